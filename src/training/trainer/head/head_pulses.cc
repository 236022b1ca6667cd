#include <fmt/format.h>

#include <algorithm>
#include <limits>

#include "training/trainer/head/head.h"
#include "training/trainer/head/progress_line.h"

namespace orrery {

// How long a part may be silent before it is given up. A run waits for ever only for a worker that
// --replace does not cover, and whose absence stops no sum.
double Head::silence_allowed_s(const PartState& part) const {
  const double least_s = options_.silence_s;
  const double ring_s = std::max(least_s, options_.ring_patience_s);
  if (part.role == PartRole::Evaluator || finishing_ || conductor_->ending()) return least_s;
  if (part.role == PartRole::Shard) return ring_s;
  if (options_.replace && part.slot >= 0) return least_s;
  const bool ring = architecture(options_) == Architecture::AllReduce;
  return ring ? ring_s : std::numeric_limits<double>::infinity();
}

void Head::look_at_pulses() {
  const std::int64_t session = session_;
  for (const PulseBoard::Silence& silence : pulses_.look(PulseBoard::Clock::now())) {
    const PartState* const part = find(silence.role, silence.id);
    if (part == nullptr || part->dismissed) {
      pulses_.forget(silence.role, silence.id);
      continue;
    }
    const double allowed_s = silence_allowed_s(*part);
    if (silence.first || silence.over) note_silence(*part, silence, allowed_s);
    if (silence.over || silence.silent_s < allowed_s) continue;
    pulses_.forget(silence.role, silence.id);
    lose(silence.role, silence.id, fmt::format("sent no heartbeat for {:.0f} s", silence.silent_s));
    if (over_ || session_ != session) return;
  }
}

void Head::note_silence(const PartState& part, const PulseBoard::Silence& silence,
                        double allowed_s) {
  const std::string role(role_name(part.role));
  const std::string what =
      fmt::format("{} for {:.0f} s",
                  silence.over ? "answers again, after no heartbeat" : "has sent no heartbeat",
                  silence.silent_s);
  log_->process(seconds(now()), role, part.id, part.pid, what);
  std::string message = fmt::format("{} {}", role, part.id);
  if (part.pid > 0) message += fmt::format(" (process {})", part.pid);
  message += " " + what;
  if (!silence.over) {
    message += allowed_s < std::numeric_limits<double>::infinity()
                   ? fmt::format("; it is given up after {:.0f} s", allowed_s)
                   : "; the run may wait for it (--replace would start another one)";
  }
  tally_.warnings.push_back(message);
  progress_->say(message);
}

}  // namespace orrery
