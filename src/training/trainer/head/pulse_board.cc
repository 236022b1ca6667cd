#include "training/trainer/head/pulse_board.h"

#include <algorithm>

namespace orrery {
namespace {

constexpr auto kUsual = std::chrono::seconds(1);  // between two looks
constexpr auto kLate = std::chrono::milliseconds(1500);

double seconds_between(PulseBoard::Clock::time_point a, PulseBoard::Clock::time_point b) {
  return std::chrono::duration<double>(b - a).count();
}

}  // namespace

PulseBoard::~PulseBoard() {
  for (const auto& line : lines_) line->handle({}, {});
}

void PulseBoard::listen(const std::shared_ptr<Connection>& line) {
  lines_.insert(line);
  line->handle(
      {.frame =
           [this](Connection& from, MessageFrame& frame) {
             auto read = read_fields<PulseMessage>(frame.body);
             if (frame.header.type != MessageType::Pulse || !read.ok()) {
               return from.close(invalid("a heartbeat is expected here"));
             }
             heard(read.value().role, read.value().id, Clock::now());
           },
       .closed = [this](Connection& gone, const Error&) { lines_.erase(gone.shared_from_this()); },
       .place = {}},
      {.body = 64, .floats = 0});
}

void PulseBoard::heard(PartRole role, std::int32_t id, Clock::time_point now) {
  heard_[{role, id}].last = now;
}

void PulseBoard::forget(PartRole role, std::int32_t id) { heard_.erase({role, id}); }
void PulseBoard::forget_all() { heard_.clear(); }

std::vector<PulseBoard::Silence> PulseBoard::look(Clock::time_point now) {
  const bool late = looked_ != Clock::time_point{} && now - looked_ > kLate;
  const Clock::duration uncounted = late ? now - looked_ - kUsual : Clock::duration::zero();
  looked_ = now;
  std::vector<Silence> silences;
  for (auto& [key, part] : heard_) {
    part.last = std::min(now, part.last + uncounted);
    const double silent_s = seconds_between(part.last, now);
    Silence silence{.role = key.first, .id = key.second, .silent_s = silent_s};
    if (silent_s >= warn_s_) {
      silence.first = part.reported_s == 0;
      part.reported_s = silent_s;
      silences.push_back(silence);
    } else if (part.reported_s > 0) {
      silence.silent_s = std::exchange(part.reported_s, 0);
      silence.over = true;
      silences.push_back(silence);
    }
  }
  return silences;
}

}  // namespace orrery
