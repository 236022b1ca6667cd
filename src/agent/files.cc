#include "agent/files.h"

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <utility>

namespace orrery {

std::string read_word(const std::string& path) {
  auto content = read_file(path);
  if (!content.ok()) return {};
  std::string word = std::move(content).value();
  word.erase(word.find_last_not_of(" \n\t") + 1);
  return word;
}

Status write_new_file(const std::string& path, std::string_view content) {
  const Fd fd(::open(path.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600));
  if (!fd.ok()) return system_error(path, errno);
  Status status = write_file(fd, path, content);
  if (!status.ok()) ::unlink(path.c_str());
  return status;
}

Status write_control(const std::string& path, std::string_view content) {
  const Fd fd(::open(path.c_str(), O_WRONLY | O_CLOEXEC));
  if (!fd.ok()) return system_error(path, errno);
  const ssize_t written = ::write(fd.get(), content.data(), content.size());
  if (written < 0) return system_error(path, errno);
  return {};
}

}  // namespace orrery
