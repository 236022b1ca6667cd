#include "agent/cgroup.h"

#include <signal.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <filesystem>
#include <sstream>

#include "agent/files.h"

namespace orrery {
namespace {

bool exists(const std::string& path) {
  std::error_code none;
  return std::filesystem::exists(path, none);
}

Status make_directory(const std::string& path) {
  if (::mkdir(path.c_str(), 0755) == 0 || errno == EEXIST) return {};
  return system_error(path, errno);
}

// The value of one line "key value".
std::int64_t entry(const std::string& path, const std::string& key) {
  std::istringstream lines(read_word(path));
  std::string name;
  std::int64_t value = 0;
  while (lines >> name >> value) {
    if (name == key) return value;
  }
  return 0;
}

Error unusable(Error error) {
  error.message +=
      "; name a cgroup directory that this user may write to, with the memory controller handed "
      "down to it, or none at all";
  return error;
}

}  // namespace

Result<CgroupHome> open_cgroup_home(const std::string& path) {
  if (Status made = make_directory(path); !made.ok()) return unusable(std::move(made).error());
  if (exists(path + "/memory.limit_in_bytes")) {
    if (exists(path + "/memory.use_hierarchy")) {
      // Refused where it is on already, which is as good.
      static_cast<void>(write_control(path + "/memory.use_hierarchy", "1").ok());
    }
    return CgroupHome{.path = path, .version = 1};
  }
  if (!exists(path + "/cgroup.controllers")) {
    return unusable({Code::FailedPrecondition, path + ": is no cgroup with a memory controller"});
  }
  if (Status status = write_control(path + "/cgroup.subtree_control", "+memory"); !status.ok()) {
    return unusable(std::move(status).error());
  }
  return CgroupHome{.path = path, .version = 2};
}

Result<JobCgroup> JobCgroup::make(const CgroupHome& home, const std::string& name,
                                  std::int64_t memory_bytes) {
  const std::string path = home.path + "/" + name;
  TRY(make_directory(path));
  const JobCgroup cgroup(path, home.version);
  const auto limit = [&]() -> Status {
    if (memory_bytes <= 0) return {};
    const std::string bytes = std::to_string(memory_bytes);
    if (home.version == 1) {
      TRY(write_control(path + "/memory.limit_in_bytes", bytes));
      // Where swap is counted at all, it counts too.
      const std::string with_swap = path + "/memory.memsw.limit_in_bytes";
      if (exists(with_swap)) TRY(write_control(with_swap, bytes));
      return {};
    }
    TRY(write_control(path + "/memory.max", bytes));
    const std::string swap = path + "/memory.swap.max";
    if (exists(swap)) TRY(write_control(swap, "0"));
    // A job that has lost one of its processes is of no use.
    return write_control(path + "/memory.oom.group", "1");
  };
  if (Status status = limit(); !status.ok()) {
    cgroup.remove();
    return std::move(status).error();
  }
  return cgroup;
}

Status JobCgroup::add(pid_t pid) const {
  return write_control(path_ + "/cgroup.procs", std::to_string(pid));
}

void JobCgroup::kill_all() const {
  if (!ok() || write_control(path_ + "/cgroup.kill", "1").ok()) return;
  std::istringstream members(read_word(path_ + "/cgroup.procs"));
  for (pid_t pid = 0; members >> pid;) {
    if (pid > 0) ::kill(pid, SIGKILL);
  }
}

std::int64_t JobCgroup::out_of_memory_kills() const {
  if (!ok()) return 0;
  return entry(path_ + (version_ == 1 ? "/memory.oom_control" : "/memory.events"), "oom_kill");
}

void JobCgroup::remove() const {
  if (ok()) ::rmdir(path_.c_str());
}

}  // namespace orrery
