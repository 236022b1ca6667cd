#include "training/trainer/transport/wire.h"

#include <fmt/format.h>
#include <sys/random.h>

#include <cstring>

#include "training/trainer/transport/crc32c.h"

namespace orrery {
namespace {

constexpr std::uint32_t kMagic = 0x5452524FU;  // "ORRT"
constexpr std::uint16_t kVersion = 4;
constexpr std::size_t kCheckedBytes = kHeaderBytes - sizeof(std::uint32_t);

// Compared whole, so that the time taken says nothing about where they differ.
bool same(const RunToken& a, const RunToken& b) { return ((a[0] ^ b[0]) | (a[1] ^ b[1])) == 0; }

struct RawHeader {
  std::uint32_t magic = kMagic;
  std::uint16_t version = kVersion;
  MessageType type{};
  RunToken token{};
  std::int32_t sender = 0;
  std::uint32_t body = 0;
  std::int64_t number = 0;
  std::uint64_t floats = 0;
  std::uint32_t payload_crc = 0;
  std::uint32_t unused = 0;
  std::uint32_t unused_too = 0;
  std::uint32_t own_crc = 0;
};
static_assert(sizeof(RawHeader) == kHeaderBytes);

std::uint32_t own_crc(const RawHeader& raw) {
  return crc32c(std::as_bytes(std::span(&raw, 1)).first(kCheckedBytes));
}

}  // namespace

RunToken random_token() {
  RunToken token{};
  const ssize_t got = getrandom(token.data(), sizeof token, 0);
  INVARIANT(got == static_cast<ssize_t>(sizeof token), "the kernel gives 16 random bytes at once");
  return token;
}

std::string token_text(const RunToken& token) {
  return fmt::format("{:016x}{:016x}", token[0], token[1]);
}

Result<RunToken> parse_token(std::string_view text) {
  while (!text.empty() && (text.back() == '\n' || text.back() == ' ')) text.remove_suffix(1);
  RunToken token{};
  bool good = text.size() == 32;
  for (std::size_t i = 0; good && i < text.size(); ++i) {
    const auto digit = std::string_view("0123456789abcdef").find(text[i]);
    good = digit != std::string_view::npos;
    token[i / 16] = (token[i / 16] << 4) | digit;
  }
  if (!good) return invalid("a run's token has 32 hexadecimal digits");
  return token;
}

bool carries_floats(MessageType type) {
  switch (type) {
    case MessageType::Gradient:
    case MessageType::Parameters:
    case MessageType::Snapshot:
    case MessageType::LinkProbe:
    case MessageType::LoadState:
    case MessageType::Evaluate:
    case MessageType::Validate:
    case MessageType::Validation:
    case MessageType::Ready:  // an evaluator's, with the first parameters
      return true;
    default:
      return false;
  }
}

std::array<std::byte, kHeaderBytes> write_header(const FrameHeader& header) {
  RawHeader raw{.type = header.type,
                .token = header.token,
                .sender = header.sender,
                .body = header.body,
                .number = header.number,
                .floats = header.floats,
                .payload_crc = header.payload_crc};
  raw.own_crc = own_crc(raw);
  std::array<std::byte, kHeaderBytes> bytes{};
  std::memcpy(bytes.data(), &raw, kHeaderBytes);
  return bytes;
}

Result<FrameHeader> read_header(std::span<const std::byte, kHeaderBytes> bytes,
                                const RunToken& token, const FrameLimits& limits) {
  RawHeader raw{};
  std::memcpy(&raw, bytes.data(), kHeaderBytes);
  if (raw.magic != kMagic) return invalid("not a message of a training run");
  if (raw.version != kVersion) {
    return invalid(
        fmt::format("version {} of the protocol, where {} is spoken", raw.version, kVersion));
  }
  if (own_crc(raw) != raw.own_crc) return Error{Code::DataLoss, "a damaged message header"};
  // It comes from a peer whose token is another, so it proves nothing and says only this.
  if (raw.type == MessageType::Refused) {
    return Error{Code::PermissionDenied, "the token was refused"};
  }
  if (!same(raw.token, token)) return Error{Code::PermissionDenied, "not this run's token"};
  const auto type = static_cast<std::uint16_t>(raw.type);
  if (type == 0 || type > static_cast<std::uint16_t>(MessageType::Last)) {
    return invalid(fmt::format("a message of unknown kind {}", type));
  }
  if (raw.body > limits.body) {
    return invalid(
        fmt::format("a message of {} bytes, where {} are allowed", raw.body, limits.body));
  }
  const std::uint64_t floats = carries_floats(raw.type) ? limits.floats : 0;
  if (raw.floats > floats) {
    return invalid(fmt::format("a message of kind {} with {} numbers, where {} are allowed", type,
                               raw.floats, floats));
  }
  return FrameHeader{.type = raw.type,
                     .token = raw.token,
                     .sender = raw.sender,
                     .number = raw.number,
                     .body = raw.body,
                     .floats = raw.floats,
                     .payload_crc = raw.payload_crc};
}

}  // namespace orrery
