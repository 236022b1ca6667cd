#include "base/socket_file.h"

#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>

#include "base/files.h"

namespace orrery {

Status remove_old_socket(const std::string& path) {
  struct stat found {};
  if (::lstat(path.c_str(), &found) != 0) {
    if (errno == ENOENT) return {};
    return system_error(path, errno);
  }
  if (!S_ISSOCK(found.st_mode)) {
    return Error{Code::AlreadyExists, path + ": is there and no socket; remove it"};
  }
  if (::unlink(path.c_str()) != 0) return system_error(path, errno);
  return {};
}

}  // namespace orrery
