#include "training/emulation/counter_file.h"

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <charconv>

namespace orrery {
namespace {

double number_in(std::string_view text) {
  double value = 0;
  std::from_chars(text.data(), text.data() + text.size(), value);
  return value;
}

}  // namespace

Result<std::string_view> CounterFile::read() {
  if (!fd_) {
    Fd fd(::open(path_.c_str(), O_RDONLY | O_CLOEXEC));
    if (!fd.ok()) return system_error(path_, errno);
    fd_ = std::make_shared<Fd>(std::move(fd));
    buffer_.resize(4096);
  }
  const ssize_t got = ::pread(fd_->get(), buffer_.data(), buffer_.size(), 0);
  if (got < 0) return system_error(path_, errno);
  return std::string_view(buffer_.data(), static_cast<std::size_t>(got));
}

Result<double> CounterFile::number() {
  TRY_ASSIGN(const std::string_view text, read());
  return number_in(text);
}

Result<double> CounterFile::entry(std::string_view key) {
  TRY_ASSIGN(std::string_view text, read());
  while (!text.empty()) {
    const std::size_t end = std::min(text.find('\n'), text.size());
    const std::string_view line = text.substr(0, end);
    if (line.size() > key.size() && line.starts_with(key) && line[key.size()] == ' ') {
      return number_in(line.substr(key.size() + 1));
    }
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  return 0.0;
}

}  // namespace orrery
