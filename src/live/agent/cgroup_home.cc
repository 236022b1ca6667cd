#include "live/agent/cgroup_home.h"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <filesystem>
#include <map>
#include <sstream>
#include <vector>

#include "base/files.h"

namespace orrery {
namespace {

constexpr const char* kNamePrefix = "orrery-";
constexpr std::size_t kNameDigits = 12;
constexpr const char* kOthers[] = {"cpu", "devices", "pids"};

bool exists(const std::string& path) {
  std::error_code none;
  return std::filesystem::exists(path, none);
}

// The cgroup of this process in each hierarchy, by controller; "" is version 2.
std::map<std::string, std::string> own_paths(const std::string& root) {
  std::map<std::string, std::string> paths;
  std::istringstream lines(read_word(root + "/proc/self/cgroup"));
  for (std::string line; std::getline(lines, line);) {
    const std::size_t first = line.find(':');
    const std::size_t second = first == line.npos ? first : line.find(':', first + 1);
    if (second == line.npos) continue;
    const std::string path = line.substr(second + 1);
    if (first + 1 == second) paths[""] = path;
    std::istringstream names(line.substr(first + 1, second - first - 1));
    for (std::string name; std::getline(names, name, ',');) paths[name] = path;
  }
  return paths;
}

struct Mount {
  std::string top{};     // which part of the hierarchy it shows
  std::string folder{};  // where
};

// By controller as above. Fields of a line: id, parent, device, top, folder, options, tags, "-",
// type, source, options of the file system.
std::map<std::string, Mount> mounts(const std::string& root) {
  std::map<std::string, Mount> found;
  std::istringstream lines(read_word(root + "/proc/self/mountinfo"));
  for (std::string line; std::getline(lines, line);) {
    std::istringstream words(line);
    Mount mount;
    std::string word, type, source, options;
    words >> word >> word >> word >> mount.top >> mount.folder;
    while (words >> word && word != "-") {
    }
    if (!(words >> type >> source >> options)) continue;
    mount.folder = root + mount.folder;
    if (type == "cgroup2") found.try_emplace("", mount);
    if (type != "cgroup") continue;
    std::istringstream names(options);
    for (std::string name; std::getline(names, name, ',');) found.try_emplace(name, mount);
  }
  return found;
}

// Empty where the mount does not show it.
std::string directory_of(const Mount& mount, std::string path) {
  if (mount.top != "/") {
    if (!path.starts_with(mount.top)) return "";
    path.erase(0, mount.top.size());
  }
  const std::string directory = path == "/" || path.empty() ? mount.folder : mount.folder + path;
  return exists(directory) ? directory : "";
}

Status make(const std::string& path) {
  if (::mkdir(path.c_str(), 0755) == 0 || errno == EEXIST) return {};
  return system_error(path, errno);
}

// True if this process is alone in the cgroup.
bool is_alone(const std::string& cgroup) {
  std::istringstream members(read_word(cgroup + "/cgroup.procs"));
  for (pid_t pid = 0; members >> pid;) {
    if (pid != ::getpid()) return false;
  }
  return true;
}

// Lets the children of a cgroup have the memory controller. A cgroup with processes of its own
// can pass none on, so they move to a child first.
Status pass_memory_on(const std::string& cgroup, const std::string& child) {
  const std::string control = cgroup + "/cgroup.subtree_control";
  if (write_control(control, "+memory").ok()) return {};
  TRY(make(child));
  std::istringstream members(read_word(cgroup + "/cgroup.procs"));
  for (std::string pid; members >> pid;) TRY(write_control(child + "/cgroup.procs", pid));
  return write_control(control, "+memory");
}

// In the cgroup of the service that keeps one for jobs, if it is beside the agent's: the kernel
// lets no process into a cgroup that passes controllers on, so with jobs below its own cgroup
// the agent's service could not be started again.
Result<CgroupHome> find_second(const std::string& own, const std::string& name) {
  const std::string kept =
      (std::filesystem::path(own).parent_path() / "orrery-jobs.service").string();
  const bool is_kept = exists(kept);
  const std::string& above = is_kept ? kept : own;
  if (read_word(above + "/cgroup.controllers").find("memory") == std::string::npos) {
    return Error{Code::FailedPrecondition, above + ": has no memory controller"};
  }
  const std::string control = above + "/cgroup.subtree_control";
  if (!is_kept && !is_alone(own) && !write_control(control, "+memory").ok()) {
    return Error{Code::FailedPrecondition,
                 own +
                     ": other processes are in the agent's cgroup; start the agent in one of "
                     "its own, as by systemd-run -p Delegate=yes"};
  }
  TRY(pass_memory_on(above, above + (is_kept ? "/keeper" : "/agent")));
  static_cast<void>(write_control(control, "+pids").ok());
  static_cast<void>(write_control(control, "+cpu").ok());
  TRY(make(above + "/" + name));
  return open_cgroup_home(above + "/" + name);
}

bool is_agents_name(const std::string& name) {
  constexpr std::string_view kDigits = "0123456789abcdef";
  const std::string_view digits =
      std::string_view(name).substr(std::min(name.size(), std::string_view(kNamePrefix).size()));
  return name.starts_with(kNamePrefix) && digits.size() == kNameDigits &&
         digits.find_first_not_of(kDigits) == digits.npos;
}

// Of all jobs together, beside other processes: as if each CPU had a process of theirs.
void weigh(const CgroupHome& home) {
  const auto cpus = std::max<std::int64_t>(1, ::sysconf(_SC_NPROCESSORS_ONLN));
  if (const std::string cpu = folder_of(home.others, "cpu"); !cpu.empty()) {
    const auto shares = std::min<std::int64_t>(262'144, 1024 * cpus);
    static_cast<void>(write_control(cpu + "/cpu.shares", std::to_string(shares)).ok());
  } else if (home.version == 2) {
    const auto weight = std::min<std::int64_t>(10'000, 100 * cpus);
    static_cast<void>(write_control(home.path + "/cpu.weight", std::to_string(weight)).ok());
  }
}

}  // namespace

Result<CgroupHome> find_cgroup_home(const std::string& name, const std::string& root) {
  const auto paths = own_paths(root);
  const auto shown = mounts(root);
  const auto own = [&](const std::string& controller) -> std::string {
    const auto mount = shown.find(controller);
    const auto path = paths.find(controller);
    if (mount == shown.end() || path == paths.end()) return "";
    return directory_of(mount->second, path->second);
  };
  const std::string memory = own("memory");
  if (memory.empty()) {
    const std::string second = own("");
    if (second.empty()) {
      return Error{Code::FailedPrecondition, "no cgroup file system shows the agent's own cgroup"};
    }
    TRY_ASSIGN(CgroupHome home, find_second(second, name));
    weigh(home);
    return home;
  }
  TRY_ASSIGN(CgroupHome home, open_cgroup_home(memory + "/" + name));
  for (const char* const controller : kOthers) {
    const std::string directory = own(controller);
    if (directory.empty() || !make(directory + "/" + name).ok()) continue;
    home.others.emplace_back(controller, directory + "/" + name);
  }
  weigh(home);
  return home;
}

void remove_cgroup_home(const CgroupHome& home) {
  if (!home.path.empty()) ::rmdir(home.path.c_str());
  for (const auto& [controller, path] : home.others) ::rmdir(path.c_str());
}

std::string cgroup_home_name(const std::string& instance) {
  return kNamePrefix + instance.substr(0, kNameDigits);
}

Fd hold_cgroup_home(const CgroupHome& home) {
  Fd held(::open(home.path.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  if (!held.ok()) return held;
  // Another agent that just looks at it has it for a moment.
  while (::flock(held.get(), LOCK_SH) != 0 && errno == EINTR) {
  }
  struct stat own {};
  struct stat named {};
  const bool is_there = ::fstat(held.get(), &own) == 0 && ::stat(home.path.c_str(), &named) == 0 &&
                        own.st_ino == named.st_ino;
  return is_there ? std::move(held) : Fd();
}

int remove_left_cgroup_homes(const CgroupHome& home) {
  int removed = 0;
  std::error_code failed;
  const std::filesystem::path parent = std::filesystem::path(home.path).parent_path();
  for (const auto& entry : std::filesystem::directory_iterator(parent, failed)) {
    const std::string name = entry.path().filename();
    if (!is_agents_name(name) || entry.path() == home.path) continue;
    const Fd left(::open(entry.path().c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
    if (!left.ok() || ::flock(left.get(), LOCK_EX | LOCK_NB) != 0) continue;
    // Fails where a process or a job's cgroup is in it.
    if (::rmdir(entry.path().c_str()) != 0) continue;
    ++removed;
    for (const auto& [controller, path] : home.others) {
      ::rmdir((std::filesystem::path(path).parent_path() / name).c_str());
    }
  }
  return removed;
}

}  // namespace orrery
