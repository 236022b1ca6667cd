#include "base/state_folder.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <filesystem>

#include "base/logins.h"

namespace orrery {
namespace {

namespace fs = std::filesystem;

constexpr mode_t kOthersReadOrWrite = S_IRGRP | S_IWGRP | S_IROTH | S_IWOTH;

Error refused(const std::string& path, std::string_view why) {
  return {Code::FailedPrecondition, fmt::format("{}: {}", path, why)};
}

Status check_owner(const std::string& path, const struct stat& found) {
  if (found.st_uid == ::geteuid()) return {};
  return refused(path, fmt::format("belongs to {}, but this runs as {}: run it as the owner, or "
                                   "use another state folder",
                                   login_name(found.st_uid), login_name(::geteuid())));
}

// A link in a folder that every user can write to may lead anywhere.
Status check_link(const std::string& path) {
  struct stat found {};
  if (::lstat(path.c_str(), &found) != 0 || !S_ISLNK(found.st_mode)) return {};
  if (found.st_uid == ::geteuid() || found.st_uid == 0) return {};
  return refused(path, fmt::format("is a link that {} made; name the folder itself",
                                   login_name(found.st_uid)));
}

constexpr const char* kIsLink = "is a link; put the file itself there";

Status check_file(const std::string& path, const struct stat& found, std::string_view advice = "") {
  if (S_ISLNK(found.st_mode)) return refused(path, kIsLink);
  if (!S_ISREG(found.st_mode)) return refused(path, "is no file; remove it");
  TRY(check_owner(path, found));
  if ((found.st_mode & kOthersReadOrWrite) == 0) return {};
  return refused(path, fmt::format("other users have access to it (mode {:o}): chmod 600 {}{}",
                                   found.st_mode & 07777, path, advice));
}

bool is_empty(const std::string& path) {
  std::error_code problem;
  return fs::is_empty(path, problem) && !problem;
}

}  // namespace

Status make_state_folder(const std::string& path, Passage passage) {
  TRY(check_link(path));
  const fs::path above = fs::path(path).parent_path();
  std::error_code problem;
  if (!above.empty()) fs::create_directories(above, problem);
  if (problem) return system_error(above.string(), problem.value());
  if (::mkdir(path.c_str(), 0700) != 0 && errno != EEXIST) return system_error(path, errno);
  struct stat found {};
  if (::stat(path.c_str(), &found) != 0) return system_error(path, errno);
  if (!S_ISDIR(found.st_mode)) return system_error(path, ENOTDIR);
  TRY(check_owner(path, found));
  if ((found.st_mode & kOthersReadOrWrite) != 0 && !is_empty(path)) {
    return refused(path, fmt::format("other users have access to it (mode {:o}): if none of them "
                                     "has changed anything in it, chmod go-rw {}",
                                     found.st_mode & 07777, path));
  }
  const mode_t wanted = passage == Passage::Others ? 0711 : 0700;
  if ((found.st_mode & 07777) != wanted && ::chmod(path.c_str(), wanted) != 0) {
    return system_error(path, errno);
  }
  return {};
}

Status check_state_files(const std::string& path,
                         std::initializer_list<std::string_view> open_to_others) {
  std::error_code problem;
  for (const auto& entry : fs::directory_iterator(path, problem)) {
    const std::string name = entry.path().filename().string();
    if (std::find(open_to_others.begin(), open_to_others.end(), name) != open_to_others.end()) {
      continue;
    }
    struct stat found {};
    if (::lstat(entry.path().c_str(), &found) != 0) continue;  // gone meanwhile
    if (S_ISDIR(found.st_mode) || S_ISSOCK(found.st_mode)) continue;
    TRY(check_file(entry.path().string(), found));
  }
  if (problem) return system_error(path, problem.value());
  return {};
}

Status check_private_file(const std::string& path) {
  struct stat found {};
  if (::lstat(path.c_str(), &found) == 0) return check_file(path, found);
  if (errno == ENOENT) return {};
  return system_error(path, errno);
}

Status make_private_file(const std::string& path) {
  const Fd fd(::open(path.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600));
  if (fd.ok()) {
    // An umask may have taken bits from the owner.
    if (::fchmod(fd.get(), 0600) != 0) return system_error(path, errno);
    return {};
  }
  if (errno != EEXIST) return system_error(path, errno);
  return check_private_file(path);
}

Result<std::string> read_private_file(const std::string& path) {
  // Without O_NONBLOCK a pipe in its place would block for ever.
  const Fd fd(::open(path.c_str(), O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC));
  if (!fd.ok() && errno == ELOOP) return refused(path, kIsLink);
  if (!fd.ok()) return system_error(path, errno);
  struct stat found {};
  if (::fstat(fd.get(), &found) != 0) return system_error(path, errno);
  TRY(check_file(path, found,
                 " if none of them can have read it; otherwise remove it, so that a new one is "
                 "made"));
  return read_file(fd, path);
}

Result<Fd> lock_state_folder(const std::string& path) {
  const std::string name = path + "/lock";
  Fd fd(::open(name.c_str(), O_RDONLY | O_CREAT | O_NOFOLLOW | O_CLOEXEC, 0600));
  // Another process may have just made it under an umask that takes bits from the owner.
  if (!fd.ok() && errno == EACCES && ::chmod(name.c_str(), 0600) == 0) {
    fd = Fd(::open(name.c_str(), O_RDONLY | O_NOFOLLOW | O_CLOEXEC));
  }
  if (!fd.ok() || ::fchmod(fd.get(), 0600) != 0) return system_error(name, errno);
  while (::flock(fd.get(), LOCK_EX) != 0) {
    if (errno != EINTR) return system_error(name, errno);
  }
  return fd;
}

}  // namespace orrery
