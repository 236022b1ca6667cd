#include "training/trainer/transport/pulse.h"

#include <unistd.h>

#include <boost/asio/post.hpp>

namespace orrery {

Pulse::Pulse(const PartStart& start, std::int32_t id)
    : thread_([this, start, id] { beat(start, id); }) {}

Pulse::~Pulse() {
  over_ = true;
  io_.stop();
  thread_.join();
}

void Pulse::beat(const PartStart& start, std::int32_t id) {
  // Several fit into the shortest silence that is reported, which is 1 s (`--silence 2`).
  constexpr auto kEvery = std::chrono::milliseconds(200);
  // The part's own transport is for another thread, and keeps to the rate of an emulated link.
  const auto transport = std::make_shared<Transport>();
  transport->token = start.token;
  transport->self = id;
  const auto line = connect_to(io_, start.host, start.port, transport, start.attempts());
  if (!line.ok()) return;
  Connection& head = *line.value();
  head.send(MessageType::Hello, 0, Hello{.role = PartRole::Pulse, .id = id, .pid = getpid()});
  head.start({.frame = [](Connection&, MessageFrame&) {}, .closed = {}, .place = {}}, {});
  while (!over_ && head.open()) {
    head.send(MessageType::Pulse, 0, PulseMessage{.role = start.role, .id = id});
    const auto next = std::chrono::steady_clock::now() + kEvery;
    while (!over_ && head.open() && io_.run_one_until(next) > 0) {
    }
  }
}

}  // namespace orrery
