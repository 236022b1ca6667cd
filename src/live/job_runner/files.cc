#include "live/job_runner/files.h"

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>

namespace orrery {

Status write_new_file(const std::string& path, std::string_view content) {
  const Fd fd(::open(path.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600));
  if (!fd.ok()) return system_error(path, errno);
  Status status = write_file(fd, path, content);
  if (!status.ok()) ::unlink(path.c_str());
  return status;
}

}  // namespace orrery
