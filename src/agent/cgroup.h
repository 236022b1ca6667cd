#pragma once

#include <sys/types.h>

#include <cstdint>
#include <string>

#include "base/result.h"

namespace orrery {

// A directory of the cgroup file system in which every job gets a cgroup of its own. It is named by
// whoever runs the machine; the agent never looks for one, since the cgroup it finds itself in
// belongs to whatever started it.
struct CgroupHome {
  std::string path{};  // empty: none
  int version = 0;     // 1 or 2
};

// Makes the directory where it is missing and sees to it that cgroups made in it can limit memory.
// Fails with what to do where it cannot.
Result<CgroupHome> open_cgroup_home(const std::string& path);

// One job's cgroup.
class JobCgroup {
 public:
  JobCgroup() = default;  // none
  JobCgroup(std::string path, int version) : path_(std::move(path)), version_(version) {}
  // With room for `memory_bytes`; 0 is no limit.
  static Result<JobCgroup> make(const CgroupHome& home, const std::string& name,
                                std::int64_t memory_bytes);

  bool ok() const { return !path_.empty(); }
  const std::string& path() const { return path_; }
  int version() const { return version_; }

  Status add(pid_t pid) const;
  // Kills everybody in it, whatever process group they are in.
  void kill_all() const;
  std::int64_t out_of_memory_kills() const;
  // Once nobody is in it any more.
  void remove() const;

 private:
  std::string path_{};
  int version_ = 0;
};

}  // namespace orrery
