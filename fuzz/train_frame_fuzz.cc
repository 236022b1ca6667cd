#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>

#include "training/trainer/transport/messages.h"
#include "training/trainer/transport/wire.h"

namespace {

using namespace orrery;

template <class... M>
void read_each(std::span<const std::byte> body) {
  (static_cast<void>(read_fields<M>(body)), ...);
}

}  // namespace

// A header from anywhere, and a body read as every kind of message. What is read is written and
// read again: the same bytes must come out.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const auto bytes = std::as_bytes(std::span(data, size));
  if (size >= kHeaderBytes) {
    const auto header =
        read_header(bytes.first<kHeaderBytes>(), {1, 2}, {.body = 4096, .floats = 9});
    if (header.ok() && (header.value().body > 4096 || header.value().floats > 9)) __builtin_trap();
  }
  read_each<Hello, Text, ReadyMessage, PeersMessage, TaskMessage, GradientMessage, PieceMessage,
            ApplyMessage, AppliedMessage, SendParametersMessage, SnapshotMessage, EvaluatedMessage,
            ValidateMessage, RingPlace, RingFormedMessage, ParentMessage, LinkMessage,
            CountMessage>(bytes);
  const auto update = read_fields<ApplyMessage>(bytes);
  if (update.ok()) {
    const auto written = write_fields(update.value());
    if (written.size() != size || std::memcmp(written.data(), data, size) != 0) __builtin_trap();
  }
  return 0;
}
