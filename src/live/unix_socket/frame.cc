#include "live/unix_socket/frame.h"

#include <fmt/format.h>

#include "base/invariant.h"

namespace orrery {
namespace {

constexpr std::size_t kSizeBytes = 4;
constexpr std::size_t kHeaderBytes = kSizeBytes + 1;

std::size_t size_in(std::string_view bytes) {
  std::size_t size = 0;
  for (std::size_t i = 0; i < kSizeBytes; ++i) {
    size |= static_cast<std::size_t>(static_cast<unsigned char>(bytes[i])) << (8 * i);
  }
  return size;
}

}  // namespace

std::string open_frame(std::uint8_t word) {
  std::string bytes(kSizeBytes, '\0');
  bytes.push_back(static_cast<char>(word));
  return bytes;
}

void close_frame(std::string& bytes) {
  const std::size_t size = bytes.size() - kSizeBytes;
  INVARIANT(size <= 0xffffffff, "no message has four gigabytes");
  for (std::size_t i = 0; i < kSizeBytes; ++i) bytes[i] = static_cast<char>(size >> (8 * i));
}

Result<std::optional<Frame>> FrameReader::next() {
  if (bytes_.size() < kSizeBytes) return std::optional<Frame>();
  const std::size_t size = size_in(bytes_);
  if (size == 0) return invalid("a frame has at least one byte");
  if (size - 1 > body_bytes_max_) {
    return Error{Code::ResourceExhausted, fmt::format("a message of {} bytes; at most {} are taken",
                                                      size - 1, body_bytes_max_)};
  }
  if (bytes_.size() < kSizeBytes + size) return std::optional<Frame>();
  Frame frame{.word = static_cast<std::uint8_t>(bytes_[kSizeBytes]),
              .body = bytes_.substr(kHeaderBytes, size - 1)};
  bytes_.erase(0, kSizeBytes + size);
  return std::optional<Frame>(std::move(frame));
}

}  // namespace orrery
