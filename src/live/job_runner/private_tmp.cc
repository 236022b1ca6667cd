#include "live/job_runner/private_tmp.h"

#include <fcntl.h>
#include <sched.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <filesystem>
#include <utility>
#include <vector>

#include "base/files.h"

namespace orrery {
namespace {

// What is hidden, and the directory that takes its place.
constexpr std::pair<const char*, const char*> kPlaces[] = {{"/tmp", "/tmp"},
                                                           {"/var/tmp", "/var-tmp"}};

bool is_hidden(const std::string& path) {
  for (const auto& [hidden, own] : kPlaces) {
    if (path.starts_with(std::string(hidden) + "/")) return true;
  }
  return false;
}

std::string parent(const std::string& path) { return path.substr(0, path.rfind('/')); }

bool make_all(const std::string& path) {
  for (std::size_t slash = path.find('/', 1);; slash = path.find('/', slash + 1)) {
    const std::string part = path.substr(0, slash);
    if (::mkdir(part.c_str(), 0755) != 0 && errno != EEXIST) return false;
    if (slash == std::string::npos) return true;
  }
}

bool bind(int from, const std::string& to) {
  const std::string source = "/proc/self/fd/" + std::to_string(from);
  return ::mount(source.c_str(), to.c_str(), nullptr, MS_BIND | MS_REC, nullptr) == 0;
}

}  // namespace

Status make_private_tmp(const std::string& path, uid_t user, gid_t group) {
  if (::geteuid() != 0) {
    return Error{Code::FailedPrecondition, "a private /tmp needs an agent that runs as root"};
  }
  if (::mkdir(path.c_str(), 0700) != 0 && errno != EEXIST) return system_error(path, errno);
  for (const auto& [hidden, own] : kPlaces) {
    const std::string folder = path + own;
    if (::mkdir(folder.c_str(), 0700) != 0 && errno != EEXIST) return system_error(folder, errno);
    if (::lchown(folder.c_str(), user, group) != 0) return system_error(folder, errno);
  }
  return {};
}

bool enter_private_tmp(const Launch& launch) {
  if (::unshare(CLONE_NEWNS) != 0) return false;
  // What the machine mounts later is seen; what is mounted here is not seen outside.
  if (::mount(nullptr, "/", nullptr, MS_REC | MS_SLAVE, nullptr) != 0) return false;
  // Held before anything is hidden, the directories themselves included.
  std::vector<std::pair<std::string, Fd>> kept;
  for (const std::string& path :
       {parent(launch.socket), parent(launch.checkpoint_directory), launch.directory}) {
    if (!is_hidden(path)) continue;
    Fd held(::open(path.c_str(), O_PATH | O_DIRECTORY | O_CLOEXEC));
    if (held.ok()) kept.emplace_back(path, std::move(held));
  }
  std::vector<std::pair<std::string, Fd>> places;
  for (const auto& [hidden, own] : kPlaces) {
    Fd held(::open((launch.private_tmp + own).c_str(), O_PATH | O_DIRECTORY | O_CLOEXEC));
    if (!held.ok()) return false;
    places.emplace_back(hidden, std::move(held));
  }
  for (const auto& [hidden, place] : places) {
    struct stat there {};
    if (::stat(hidden.c_str(), &there) == 0 && !bind(place.get(), hidden)) return false;
  }
  for (const auto& [path, held] : kept) {
    if (!make_all(path) || !bind(held.get(), path)) return false;
  }
  return true;
}

// Nothing but what make_private_tmp() makes: a directory that is named like a launch.
void remove_private_tmp(const std::string& path) {
  const std::string name = path.substr(path.rfind('/') + 1);
  if (name.empty() || name.find_first_not_of("0123456789.") != std::string::npos ||
      std::count(name.begin(), name.end(), '.') != 2 || name.front() == '.') {
    return;
  }
  std::error_code ignored;
  std::filesystem::remove_all(path, ignored);
}

}  // namespace orrery
