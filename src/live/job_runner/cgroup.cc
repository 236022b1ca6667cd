#include "live/job_runner/cgroup.h"

#include <signal.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <filesystem>
#include <sstream>

#include "base/files.h"

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
  const bool made = ::mkdir(path.c_str(), 0755) == 0;
  if (!made && errno != EEXIST) return unusable(system_error(path, errno));
  if (exists(path + "/memory.limit_in_bytes")) {
    if (exists(path + "/memory.use_hierarchy")) {
      // Refused where it is on already, which is as good.
      static_cast<void>(write_control(path + "/memory.use_hierarchy", "1").ok());
    }
    return CgroupHome{.path = path, .version = 1};
  }
  if (!exists(path + "/cgroup.controllers")) {
    if (made) ::rmdir(path.c_str());
    return unusable({Code::FailedPrecondition, path + ": is no cgroup with a memory controller"});
  }
  for (const char* const more : {"+pids", "+cpu"}) {
    static_cast<void>(write_control(path + "/cgroup.subtree_control", more).ok());
  }
  if (Status status = write_control(path + "/cgroup.subtree_control", "+memory"); !status.ok()) {
    return unusable(std::move(status).error());
  }
  return CgroupHome{.path = path, .version = 2};
}

std::string folder_of(const CgroupFolders& folders, std::string_view controller) {
  for (const auto& [name, path] : folders) {
    if (name == controller) return path;
  }
  return "";
}

std::string JobCgroup::of(const std::string& controller) const {
  if (version_ == 2) return path_;
  return folder_of(others_, controller);
}

Status JobCgroup::limit_memory(std::int64_t memory_bytes) const {
  if (memory_bytes <= 0) return {};
  const std::string bytes = std::to_string(memory_bytes);
  if (version_ == 1) {
    TRY(write_control(path_ + "/memory.limit_in_bytes", bytes));
    // Where swap is counted at all, it counts too.
    const std::string with_swap = path_ + "/memory.memsw.limit_in_bytes";
    if (exists(with_swap)) TRY(write_control(with_swap, bytes));
    return {};
  }
  TRY(write_control(path_ + "/memory.max", bytes));
  const std::string swap = path_ + "/memory.swap.max";
  if (exists(swap)) TRY(write_control(swap, "0"));
  // A job that has lost one of its processes is of no use.
  return write_control(path_ + "/memory.oom.group", "1");
}

Status JobCgroup::limit_processes(std::int64_t most) const {
  return write_control(of("pids") + "/pids.max", std::to_string(most));
}

Status JobCgroup::limit_cpu(const CgroupLimits& limits) const {
  constexpr std::int64_t kPeriodUs = 100'000;
  const std::string path = of("cpu");
  if (limits.cpu_milli > 0) {
    // The kernel's own ranges; one CPU is the usual weight.
    const std::int64_t shares =
        std::clamp<std::int64_t>(limits.cpu_milli * 1024 / 1000, 2, 262'144);
    const std::int64_t weight = std::clamp<std::int64_t>(limits.cpu_milli / 10, 1, 10'000);
    TRY(version_ == 1 ? write_control(path + "/cpu.shares", std::to_string(shares))
                      : write_control(path + "/cpu.weight", std::to_string(weight)));
  }
  if (limits.cpus <= 0) return {};
  const std::string quota = std::to_string(limits.cpus * kPeriodUs);
  const std::string period = std::to_string(kPeriodUs);
  if (version_ == 2) return write_control(path + "/cpu.max", quota + " " + period);
  TRY(write_control(path + "/cpu.cfs_period_us", period));
  return write_control(path + "/cpu.cfs_quota_us", quota);
}

Status JobCgroup::close(const std::vector<DeviceNumber>& devices) const {
  return close_devices(of("devices"), version_, devices);
}

Result<JobCgroup> JobCgroup::make(const CgroupHome& home, const std::string& name,
                                  const CgroupLimits& limits) {
  JobCgroup cgroup(home.path + "/" + name, home.version);
  TRY(make_directory(cgroup.path_));
  for (const auto& [controller, directory] : home.others) {
    const std::string path = directory + "/" + name;
    if (make_directory(path).ok()) cgroup.others_.emplace_back(controller, path);
  }
  if (Status status = cgroup.limit_memory(limits.memory_bytes); !status.ok()) {
    cgroup.remove();
    return std::move(status).error();
  }
  const auto note = [&cgroup](const char* what, bool asked, const Status& status) {
    if (asked && status.ok())
      cgroup.enforced_ += (cgroup.enforced_.empty() ? "" : " ") + std::string(what);
  };
  const auto has = [&](const char* controller) { return !cgroup.of(controller).empty(); };
  note("memory", limits.memory_bytes > 0, {});
  if (limits.processes > 0 && has("pids")) {
    note("pids", true, cgroup.limit_processes(limits.processes));
  }
  if (has("cpu")) {
    note("cpu", limits.cpu_milli > 0 || limits.cpus > 0, cgroup.limit_cpu(limits));
  }
  if (has("devices")) note("devices", !limits.closed.empty(), cgroup.close(limits.closed));
  return cgroup;
}

Status JobCgroup::add(pid_t pid) const {
  const std::string member = std::to_string(pid);
  TRY(write_control(path_ + "/cgroup.procs", member));
  for (const auto& [controller, path] : others_) {
    TRY(write_control(path + "/cgroup.procs", member));
  }
  return {};
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
  if (!ok()) return;
  for (const auto& [controller, path] : others_) ::rmdir(path.c_str());
  ::rmdir(path_.c_str());
}

}  // namespace orrery
