#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "training/trainer/transport/fields.h"

namespace orrery {

// A process without it does not belong to the run.
using RunToken = std::array<std::uint64_t, 2>;
RunToken random_token();  // from the kernel's generator
std::string token_text(const RunToken& token);
Result<RunToken> parse_token(std::string_view text);

enum class MessageType : std::uint16_t {
  Hello = 1,       // part -> head, part or servers
  Setup,           // head -> part
  Joined,          // worker -> head: it has reached all it needs
  Ready,           // part -> head
  Peers,           // head -> worker
  StartTask,       // head -> worker
  CutTask,         // head -> worker
  Gradient,        // worker -> shard or parent, with floats
  GradientDone,    // worker -> head
  Piece,           // shard or parent -> head
  Apply,           // head -> shard or ring member
  Applied,         // shard or ring member -> head
  SendParameters,  // head -> shard or parent; worker -> head: its parent does not
  Parameters,      // shard or parent -> worker, with floats
  Drop,            // head -> shard or parent
  TakeSnapshot,    // head -> shard or ring member
  Snapshot,        // shard or ring member -> head, with floats
  LoadState,       // head -> shard or worker, with floats
  Evaluate,        // head -> evaluator, with floats
  Evaluated,       // evaluator -> head
  Validate,        // head -> evaluator, with floats
  Validation,      // evaluator -> head -> shards, with floats
  FormRing,        // head -> worker
  RingFormed,      // worker -> head
  FormTree,        // head -> worker
  ProbeLink,       // head -> worker
  LinkProbe,       // worker -> head, with floats
  SetLink,         // head -> part
  Leaving,         // worker -> head
  Stop,            // head -> part
  Resize,          // a command -> head
  Answer,          // head -> a command
  JoinServers,     // head -> shared servers
  Places,          // shared servers -> head
  Report,          // head -> shared servers
  AskMode,         // head -> shared servers
  ModeAnswer,      // shared servers -> head
  GiveBack,        // head -> shared servers
  Limits,          // shared servers -> head
  Pulse,           // a part's heartbeat -> head
  Refused,         // head or part -> a caller without the token
  Last = Refused
};
bool carries_floats(MessageType type);

// Every message begins with this; then `body` bytes of fields, then the floats.
struct FrameHeader {
  MessageType type{};
  RunToken token{};
  std::int32_t sender = -1;
  std::int64_t number = 0;  // of the task, version or epoch it is about
  std::uint32_t body = 0;
  std::uint64_t floats = 0;
  std::uint32_t payload_crc = 0;
};
inline constexpr std::size_t kHeaderBytes = 64;

struct FrameLimits {
  std::uint32_t body = 1U << 20;
  std::uint64_t floats = 0;
};

std::array<std::byte, kHeaderBytes> write_header(const FrameHeader& header);
// Refuses what is no frame, is damaged, is longer than allowed, or does not have the token (which
// is Code::PermissionDenied).
Result<FrameHeader> read_header(std::span<const std::byte, kHeaderBytes> bytes,
                                const RunToken& token, const FrameLimits& limits);

template <class M>
std::vector<std::byte> write_fields(const M& message) {
  FieldWriter writer;
  writer(message);
  return writer.take();
}

template <class M>
Result<M> read_fields(std::span<const std::byte> body) {
  M message{};
  FieldReader reader(body);
  reader(message);
  if (!reader.at_end()) return invalid("a message is shorter or longer than its kind");
  return message;
}

}  // namespace orrery
