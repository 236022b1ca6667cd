#pragma once

#include <sys/types.h>

#include <cstddef>
#include <string>
#include <string_view>
#include <utility>

#include "base/result.h"

namespace orrery {

// A file descriptor that is closed with its owner; -1 is none.
class Fd {
 public:
  Fd() = default;
  explicit Fd(int fd) : fd_(fd) {}
  Fd(Fd&& other) noexcept : fd_(std::exchange(other.fd_, -1)) {}
  Fd& operator=(Fd&& other) noexcept {
    if (this != &other) close(), fd_ = std::exchange(other.fd_, -1);
    return *this;
  }
  ~Fd() { close(); }

  int get() const { return fd_; }
  bool ok() const { return fd_ >= 0; }
  void close();

 private:
  int fd_ = -1;
};

// What the system said, with the code nearest to it: "FILE: No such file or directory".
Error system_error(std::string_view place, int number);

inline constexpr std::size_t kSmallFile = std::size_t{16} << 20;

// A whole file. One that is not there is Code::NotFound; one beyond `largest` is refused.
Result<std::string> read_file(const std::string& path, std::size_t largest = kSmallFile);
// The same of a file that is open; `path` is for the message.
Result<std::string> read_file(const Fd& fd, const std::string& path,
                              std::size_t largest = kSmallFile);

// A whole small file without white space at its end; empty where it cannot be read.
std::string read_word(const std::string& path);

Status write_file(const Fd& fd, const std::string& path, std::string_view content);

// How a file of our own is written.
struct OwnFile {
  mode_t mode = 0600;      // whatever the umask
  bool durable = false;    // content and name outlive a loss of power
  bool exclusive = false;  // Code::AlreadyExists if the path exists
};

// Readers see the old content or the new one, never a part. The file outlives this process.
Status write_file_atomically(const std::string& path, std::string_view content, OwnFile how = {});

// Writes to a file that is there, as the kernel's control files want it: in one call.
Status write_control(const std::string& path, std::string_view content);

}  // namespace orrery
