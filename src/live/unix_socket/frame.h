#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "base/result.h"

namespace orrery {

// What goes over a local socket: four bytes of size, the lowest first, a word of one byte and a
// body. The size counts word and body.
struct Frame {
  std::uint8_t word = 0;
  std::string body{};
  bool operator==(const Frame&) const = default;
};

// A frame in the making: the body is appended to `bytes`, then close_frame() says how long it is.
std::string open_frame(std::uint8_t word);
void close_frame(std::string& bytes);

// Puts frames together from pieces of any size. What it holds is bounded by the longest body, one
// piece and the header.
class FrameReader {
 public:
  explicit FrameReader(std::size_t body_bytes_max) : body_bytes_max_(body_bytes_max) {}

  void take(std::string_view piece) { bytes_.append(piece); }
  // Nothing: more has to come first. InvalidArgument or ResourceExhausted: this is no frame, or one
  // that is too long, and nothing after it can be made sense of.
  Result<std::optional<Frame>> next();

  bool midway() const { return !bytes_.empty(); }

 private:
  std::size_t body_bytes_max_;
  std::string bytes_;
};

}  // namespace orrery
