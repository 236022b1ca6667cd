#pragma once

#include <sys/types.h>

#include <string>
#include <vector>

#include "base/result.h"
#include "training/emulation/counter_file.h"

namespace orrery {

struct CpuUse {
  double cpu_s = 0;        // used so far
  double throttled_s = 0;  // by its quota, so far
};

// Where cgroups for servers may be made. In version 1, CPU time is limited and counted in two
// trees, which may be the same.
struct CgroupTree {
  int version = 0;        // 1 or 2
  std::string cpu{};      // an existing cgroup, in which ours are made
  std::string account{};  // version 1: the same of cpuacct
};

// The cgroup this process is in, in whichever version has the cpu controller. `proc` is /proc/self.
Result<CgroupTree> find_cgroups(const std::string& proc = "/proc/self");
// The one that the user named: a folder with the cpu controller handed down to it.
Result<CgroupTree> open_cgroups(const std::string& folder);

// What a quota is written as. Short periods, so that an iteration of a few hundredths of a second
// sees its share; but the kernel takes no quota below 1 ms.
struct CpuQuota {
  long long quota_us = 0;
  long long period_us = 0;
};
CpuQuota cpu_quota(double cores);

// The cgroup of one server.
class ServerCgroup {
 public:
  ServerCgroup(CgroupTree tree, const std::string& name);

  Status make() const;
  Status add(pid_t pid) const;
  Status set(double cores) const;
  Result<CpuUse> use();
  Result<double> starved_s();  // that it waited for a core although its quota allowed it to run
  // Its processes go back to where it was made, and it goes.
  void release() const;
  // Its processes are ended, and it goes.
  void end() const;

 private:
  std::vector<pid_t> members() const;
  void remove() const;

  CgroupTree tree_;
  std::string cpu_, account_;
  CounterFile stat_, usage_;
};

// Removes the cgroups of runs that were killed, with the processes in them: no head
// leads those any more, and they would take CPU from the next measurement.
void remove_left_cgroups(const CgroupTree& tree);

}  // namespace orrery
