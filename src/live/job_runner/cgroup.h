#pragma once

#include <sys/types.h>

#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/result.h"
#include "live/job_runner/device_rules.h"

namespace orrery {

// Directories by controller.
using CgroupFolders = std::vector<std::pair<std::string, std::string>>;
// Empty: there is none.
std::string folder_of(const CgroupFolders& folders, std::string_view controller);

// A directory of the cgroup file system in which every process of a job gets a cgroup of its own.
// An operator names it, or find_cgroup_home() makes it below the agent's own cgroup.
struct CgroupHome {
  std::string path{};      // empty: none; in version 1 that of the memory controller
  int version = 0;         // 1 or 2
  CgroupFolders others{};  // version 1: in the hierarchies of cpu, devices and pids
};

struct CgroupLimits {
  std::int64_t memory_bytes = 0;       // 0: none
  std::int64_t processes = 0;          // with threads; 0: no limit
  std::int64_t cpu_milli = 0;          // the share when CPUs are scarce; 0: as any other
  int cpus = 0;                        // whole CPUs at most; 0: no limit
  std::vector<DeviceNumber> closed{};  // devices that cannot be opened
};

// Makes the directory where it is missing and sees to it that cgroups made in it can limit memory.
// Fails with what to do where it cannot.
Result<CgroupHome> open_cgroup_home(const std::string& path);

// One job's cgroup.
class JobCgroup {
 public:
  JobCgroup() = default;  // none
  JobCgroup(std::string path, int version, CgroupFolders others = {})
      : path_(std::move(path)), version_(version), others_(std::move(others)) {}
  // Fails where memory cannot be limited. Of the other limits those hold that enforced() names.
  static Result<JobCgroup> make(const CgroupHome& home, const std::string& name,
                                const CgroupLimits& limits);

  bool ok() const { return !path_.empty(); }
  const std::string& path() const { return path_; }
  int version() const { return version_; }
  // Version 1: its directories in other hierarchies.
  const CgroupFolders& others() const { return others_; }
  // The limits that hold, such as "memory pids cpu devices".
  const std::string& enforced() const { return enforced_; }

  Status add(pid_t pid) const;
  // Kills every process in it, whatever its process group.
  void kill_all() const;
  std::int64_t out_of_memory_kills() const;
  // Call it once no process is in it.
  void remove() const;

 private:
  Status limit_memory(std::int64_t bytes) const;
  Status limit_processes(std::int64_t most) const;
  Status limit_cpu(const CgroupLimits& limits) const;
  Status close(const std::vector<DeviceNumber>& devices) const;
  // The directory of a controller; empty: none.
  std::string of(const std::string& controller) const;

  std::string path_{};
  int version_ = 0;
  CgroupFolders others_{};
  std::string enforced_{};
};

}  // namespace orrery
