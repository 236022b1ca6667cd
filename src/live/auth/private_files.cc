#include "live/auth/private_files.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <filesystem>
#include <system_error>

namespace orrery {
namespace {

constexpr mode_t kOthers = S_IRWXG | S_IRWXO;

Status check_owner(const std::string& path, const struct stat& found) {
  if (found.st_uid == ::geteuid()) return {};
  return Error{Code::FailedPrecondition,
               fmt::format("{}: belongs to user number {}, but this runs as {}: run it as the "
                           "owner, or use another state directory",
                           path, found.st_uid, ::geteuid())};
}

Error open_to_others(const std::string& path, const struct stat& found, std::string_view advice) {
  return {Code::FailedPrecondition, fmt::format("{}: others have access to it (mode {:o}): {}",
                                                path, found.st_mode & 07777, advice)};
}

Status sync_directory_of(const std::string& path) {
  const std::string folder = std::filesystem::path(path).parent_path().string();
  const Fd fd(::open(folder.empty() ? "." : folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  if (!fd.ok() || ::fsync(fd.get()) != 0) return system_error(folder, errno);
  return {};
}

Status write_draft(const std::string& draft, std::string_view content) {
  // A draft that is there is of somebody who was killed, since we hold the lock.
  ::unlink(draft.c_str());
  const Fd fd(::open(draft.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600));
  if (!fd.ok()) return system_error(draft, errno);
  if (::fchmod(fd.get(), 0600) != 0) return system_error(draft, errno);
  TRY(write_file(fd, draft, content));
  if (::fsync(fd.get()) != 0) return system_error(draft, errno);
  return {};
}

}  // namespace

Status make_private_directory(const std::string& path) {
  if (path.empty()) return invalid("a state directory is missing");
  const auto above = std::filesystem::path(path).parent_path();
  std::error_code problem;
  if (!above.empty()) std::filesystem::create_directories(above, problem);
  if (problem) return system_error(above.string(), problem.value());
  if (::mkdir(path.c_str(), 0700) != 0 && errno != EEXIST) return system_error(path, errno);
  struct stat found {};
  if (::stat(path.c_str(), &found) != 0) return system_error(path, errno);
  if (!S_ISDIR(found.st_mode)) return invalid(path + ": is no directory; name another one");
  TRY(check_owner(path, found));
  if ((found.st_mode & kOthers) != 0) return open_to_others(path, found, "chmod 700 " + path);
  // An umask that takes bits from the owner, here or in a process that has just made it.
  if ((found.st_mode & S_IRWXU) != S_IRWXU && ::chmod(path.c_str(), 0700) != 0) {
    return system_error(path, errno);
  }
  return {};
}

Result<Fd> lock_directory(const std::string& path) {
  const std::string name = path + "/lock";
  Fd fd(::open(name.c_str(), O_RDONLY | O_CREAT | O_NOFOLLOW | O_CLOEXEC, 0600));
  if (!fd.ok() && errno == EACCES) {
    // As above; the file is empty, so its modes may be set by whoever owns it.
    if (::chmod(name.c_str(), 0600) == 0) {
      fd = Fd(::open(name.c_str(), O_RDONLY | O_NOFOLLOW | O_CLOEXEC));
    }
  }
  if (!fd.ok()) return system_error(name, errno);
  if (::fchmod(fd.get(), 0600) != 0) return system_error(name, errno);
  while (::flock(fd.get(), LOCK_EX) != 0) {
    if (errno != EINTR) return system_error(name, errno);
  }
  return fd;
}

Result<std::string> read_private(const std::string& path) {
  // Without O_NONBLOCK a pipe in its place would hold us for ever.
  const Fd fd(::open(path.c_str(), O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC));
  if (!fd.ok() && errno == ELOOP) {
    return Error{Code::FailedPrecondition, path + ": is a link; put the file itself there"};
  }
  if (!fd.ok()) return system_error(path, errno);
  struct stat found {};
  if (::fstat(fd.get(), &found) != 0) return system_error(path, errno);
  if (!S_ISREG(found.st_mode)) return invalid(path + ": is no file; remove it");
  TRY(check_owner(path, found));
  if ((found.st_mode & kOthers) != 0) {
    return open_to_others(path, found,
                          "if nobody can have read it, chmod 600 " + path +
                              "; otherwise remove it, so that a new one is made");
  }
  return read_file(fd, path);
}

Status write_private(const std::string& path, std::string_view content) {
  const std::string draft = path + ".new";
  if (Status status = write_draft(draft, content); !status.ok()) {
    ::unlink(draft.c_str());
    return status;
  }
  if (std::rename(draft.c_str(), path.c_str()) != 0) {
    const int number = errno;
    ::unlink(draft.c_str());
    return system_error(path, number);
  }
  return sync_directory_of(path);
}

}  // namespace orrery
