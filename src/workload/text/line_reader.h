#pragma once

#include <cstddef>
#include <cstdint>
#include <istream>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace orrery {

inline constexpr std::size_t kLineBytesMax = 1 << 20;

// The lines of a text file, one at a time, in a window that never grows past the longest line
// allowed. Line ends are LF or CRLF; a byte order mark is dropped; blank lines are passed over. A
// NUL byte or a line that is too long is an error, so a binary file ends the reading at once.
class LineReader {
 public:
  LineReader(std::string_view name, std::istream& in) : name_(name), in_(in) {}

  // Moves to the next line that is not blank; false at the end of the file.
  Result<bool> next();

  // Makes the following next() stay on this line, for a reader that only looked.
  void hold() { held_ = true; }

  // What has not been handed out yet, as it is: at least a chunk of it, unless the file ends
  // before. Valid until the next call of anything.
  Result<std::string_view> peek();
  // Hands that out, for a reader that does not go by lines; empty at the end of the file.
  Result<std::string_view> next_bytes();

  const std::string& name() const { return name_; }
  std::string_view line() const { return line_; }  // valid until next()
  std::int64_t number() const { return number_; }  // of that line, from 1

  // `what` with file and line in front.
  Error wrong(std::string what) const;
  // `what` with the file in front, for faults of no particular line.
  Error wrong_file(std::string what) const;

 private:
  Status fill();
  Status check_start(std::string_view bytes) const;
  Result<bool> next_raw();

  std::string name_;
  std::istream& in_;
  std::vector<char> window_;
  std::size_t begin_ = 0;  // of what has not been handed out yet
  std::size_t end_ = 0;
  bool started_ = false;
  bool ended_ = false;
  bool held_ = false;
  bool holds_nul_ = false;  // somewhere in what was read so far
  std::string_view line_;
  std::int64_t number_ = 0;
};

}  // namespace orrery
