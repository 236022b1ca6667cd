#pragma once

#include <sys/types.h>

#include <memory>
#include <string>
#include <vector>

#include "base/result.h"
#include "training/emulation/server_cgroup.h"

namespace orrery {

// One means of holding every server to its share of the cores. What it does is undone when it goes.
class CpuLimits {
 public:
  virtual ~CpuLimits() = default;
  virtual std::string means() const = 0;
  virtual Status add(int server, pid_t pid) = 0;
  virtual Status set(int server, double cores) = 0;
  virtual Result<CpuUse> use(int server) = 0;
  virtual Result<double> starved_s(int server) = 0;
};

// A cgroup for each server, named after `tag`.
Result<std::unique_ptr<CpuLimits>> make_cgroup_limits(const CgroupTree& tree,
                                                      const std::string& tag,
                                                      const std::vector<double>& cores);

// Stops a server's processes as soon as they have used what they may have, and continues them when
// more has come. Parents notice it only if they ask (waitpid with WUNTRACED). A note in
// `folder` says which processes, for the next run to find if this one is killed.
Result<std::unique_ptr<CpuLimits>> make_duty_cycle(const std::string& folder,
                                                   const std::string& tag,
                                                   const std::vector<double>& cores);
// Ends the processes that killed runs left stopped, by those notes.
void remove_left_duty_cycles(const std::string& folder);

// Only counts.
std::unique_ptr<CpuLimits> make_no_cpu_limits(int servers);

}  // namespace orrery
