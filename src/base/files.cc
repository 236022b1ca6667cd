#include "base/files.h"

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <system_error>

#include "base/output_file.h"

namespace orrery {
namespace {

Code code_of(int number) {
  switch (number) {
    case ENOENT:
    case ESRCH:
      return Code::NotFound;
    case EEXIST:
      return Code::AlreadyExists;
    case EACCES:
    case EPERM:
    case EROFS:
      return Code::FailedPrecondition;
    case ENOSPC:
    case EMFILE:
    case ENFILE:
    case ENOMEM:
    case EAGAIN:
      return Code::ResourceExhausted;
    default:
      return Code::Unavailable;
  }
}

}  // namespace

void Fd::close() {
  if (fd_ >= 0) ::close(fd_);
  fd_ = -1;
}

Error system_error(std::string_view place, int number) {
  return {code_of(number),
          std::string(place) + ": " + std::error_code(number, std::generic_category()).message()};
}

Result<std::string> read_file(const std::string& path, std::size_t largest) {
  const Fd fd(::open(path.c_str(), O_RDONLY | O_CLOEXEC));
  if (!fd.ok()) return system_error(path, errno);
  return read_file(fd, path, largest);
}

Result<std::string> read_file(const Fd& fd, const std::string& path, std::size_t largest) {
  std::string content;
  char buffer[std::size_t{16} << 10];
  while (true) {
    const ssize_t count = ::read(fd.get(), buffer, sizeof buffer);
    if (count < 0 && errno == EINTR) continue;
    if (count < 0) return system_error(path, errno);
    if (count == 0) return content;
    content.append(buffer, static_cast<std::size_t>(count));
    if (content.size() > largest) {
      return invalid(path + ": larger than " + std::to_string(largest >> 20) + " MiB");
    }
  }
}

Status write_file(const Fd& fd, const std::string& path, std::string_view content) {
  while (!content.empty()) {
    const ssize_t written = ::write(fd.get(), content.data(), content.size());
    if (written < 0 && errno == EINTR) continue;
    if (written < 0) return system_error(path, errno);
    content.remove_prefix(static_cast<std::size_t>(written));
  }
  return {};
}

Status write_file_atomically(const std::string& path, std::string_view content, OwnFile how) {
  TRY_ASSIGN(OutputFile file, OutputFile::open_own(path, how));
  TRY(file.write(content));
  return file.commit();
}

std::string read_word(const std::string& path) {
  auto content = read_file(path);
  if (!content.ok()) return {};
  std::string word = std::move(content).value();
  word.erase(word.find_last_not_of(" \n\t") + 1);
  return word;
}

Status write_control(const std::string& path, std::string_view content) {
  const Fd fd(::open(path.c_str(), O_WRONLY | O_CLOEXEC));
  if (!fd.ok()) return system_error(path, errno);
  const ssize_t written = ::write(fd.get(), content.data(), content.size());
  if (written < 0) return system_error(path, errno);
  return {};
}

}  // namespace orrery
