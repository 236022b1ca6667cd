#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/invariant.h"
#include "live/api/fake_api.h"
#include "live/codec/plain.h"
#include "live/unix_socket/calls.h"
#include "live/unix_socket/frame.h"

using namespace orrery;

namespace {

constexpr std::size_t kBodyMost = 4096;

struct Heard {
  std::vector<Frame> frames{};
  std::string error{};
};

Heard hear(std::string_view bytes, std::size_t piece) {
  FrameReader reader(kBodyMost);
  Heard heard;
  while (!bytes.empty() && heard.error.empty()) {
    reader.take(bytes.substr(0, piece));
    bytes.remove_prefix(std::min(piece, bytes.size()));
    while (true) {
      auto next = reader.next();
      if (!next.ok()) heard.error = next.error().message;
      if (!next.ok() || !next.value()) break;
      heard.frames.push_back(*std::move(next).value());
    }
  }
  return heard;
}

}  // namespace

// Whatever comes over the socket: in which pieces makes no difference, every call is answered once
// by a frame, and an answer of any bytes is read or refused.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view bytes(reinterpret_cast<const char*>(data), size);
  const Heard whole = hear(bytes, size + 1);
  const Heard parts = hear(bytes, 3);
  INVARIANT(whole.frames == parts.frames && whole.error == parts.error,
            "pieces make no difference");
  FakeApi api;
  for (const Frame& frame : whole.frames) {
    int answers = 0;
    answer_frame(api, {.name = "ann"}, frame, [&](const std::string& answer) {
      ++answers;
      FrameReader reader(1 << 20);
      reader.take(answer);
      const auto read = reader.next();
      INVARIANT(read.ok() && read.value() && !reader.midway(), "an answer is one frame");
    });
    INVARIANT(answers == 1, "a call is answered once");
    static_cast<void>(read_plain<StatusAnswer>(frame.body).ok());
    static_cast<void>(read_plain<NodesAnswer>(frame.body).ok());
  }
  return 0;
}
