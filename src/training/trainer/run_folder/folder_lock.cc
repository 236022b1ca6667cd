#include "training/trainer/run_folder/folder_lock.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/file.h>
#include <unistd.h>

namespace orrery {

Result<FolderLock> FolderLock::take(const std::string& folder) {
  const std::string path = folder + "/lock";
  Fd file(::open(path.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0600));
  if (!file.ok()) return system_error(path, errno);
  if (::flock(file.get(), LOCK_EX | LOCK_NB) != 0) {
    if (errno != EWOULDBLOCK) return system_error(path, errno);
    const std::string pid = read_word(path);
    return Error{Code::FailedPrecondition,
                 fmt::format("{}: process {} trains in this folder; stop it first, or name another "
                             "folder",
                             folder, pid.empty() ? "(unknown)" : pid)};
  }
  if (::ftruncate(file.get(), 0) != 0) return system_error(path, errno);
  TRY(write_file(file, path, fmt::format("{}\n", ::getpid())));
  return FolderLock(std::move(file));
}

}  // namespace orrery
