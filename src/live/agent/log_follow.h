#pragma once

#include <sys/stat.h>
#include <sys/types.h>

#include <cstdint>
#include <optional>
#include <string>

#include "base/files.h"
#include "base/result.h"
#include "model/time.h"

namespace orrery {

// Reads a log that is still being written, piece by piece, from an offset on. Holds one piece of it
// at a time. A log that was cut to less than what was read is read again from its start; one that
// was moved away is read to its end, and then the one that took its place from its start.
class LogFollower {
 public:
  // The file need not be there yet. If an owner is given, a file of another user is refused: a
  // job names its own output, and may put a link to what only the agent can read in its place. A
  // negative offset counts from the end that the file has at the first read.
  LogFollower(std::string path, std::int64_t offset, std::optional<uid_t> owner = {});

  struct Piece {
    std::string bytes{};      // empty: nothing new
    std::int64_t offset = 0;  // of the first byte, in the file it is from
    bool restarted = false;   // this is the start of a file that was cut or replaced
  };
  // At most `most` bytes of what is new. Does not wait.
  Result<Piece> read(std::size_t most = 64 * 1024);

  // Waits until there may be something new or `other` is readable (a job's fd(); -1: none), and at
  // most this long. To follow a job to its end: read until empty, look whether the job has ended,
  // read until empty again if so, else wait.
  Status wait(int other, Duration most);

 private:
  Status open();
  Status check(const struct stat& state) const;
  void pass_hole(const struct stat& state);
  bool replaced() const;

  std::string path_;
  std::int64_t offset_;
  std::optional<uid_t> owner_;
  bool restarted_ = false;
  Fd file_{};
  Fd changes_{};  // inotify
};

}  // namespace orrery
