#include "training/trainer/head/membership/silence_watch.h"

#include <fmt/format.h>

#include <algorithm>
#include <limits>

namespace orrery {

// A run waits without end only for a worker that --replace does not cover and that no sum needs.
double SilenceWatch::allowed_s(const PartState& part) const {
  const double least_s = run_.options.silence_s;
  const double ring_s = std::max(least_s, run_.options.ring_patience_s);
  const bool ends = run_.finishing || session_.conductor->ending();
  if (part.role == PartRole::Evaluator || ends) return least_s;
  if (part.role == PartRole::Shard) return ring_s;
  if (run_.options.members || (run_.options.replace && part.slot >= 0)) return least_s;
  return run_.all_reduce() ? ring_s : std::numeric_limits<double>::infinity();
}

void SilenceWatch::look(const std::function<void(PartRole, int, const std::string& how)>& lose) {
  const std::int64_t session = session_.number;
  for (const PulseBoard::Silence& silence : board_.look(PulseBoard::Clock::now())) {
    const PartState* const part = members_.find(silence.role, silence.id);
    if (part == nullptr || part->dismissed) {
      board_.forget(silence.role, silence.id);
      continue;
    }
    const double allowed = allowed_s(*part);
    if (silence.first || silence.over) note(*part, silence, allowed);
    if (silence.over || silence.silent_s < allowed) continue;
    board_.forget(silence.role, silence.id);
    lose(silence.role, silence.id, fmt::format("sent no heartbeat for {:.0f} s", silence.silent_s));
    if (run_.over || session_.number != session) return;
  }
}

void SilenceWatch::note(const PartState& part, const PulseBoard::Silence& silence,
                        double allowed_s) {
  const std::string role(role_name(part.role));
  const std::string what =
      fmt::format("{} for {:.0f} s",
                  silence.over ? "answers again, after no heartbeat" : "has sent no heartbeat",
                  silence.silent_s);
  run_.log->process(seconds(run_.now()), role, part.id, part.pid, what);
  std::string message = fmt::format("{} {}", role, part.id);
  if (part.pid > 0) message += fmt::format(" (process {})", part.pid);
  message += " " + what;
  if (!silence.over) {
    message += allowed_s < std::numeric_limits<double>::infinity()
                   ? fmt::format("; it is given up after {:.0f} s", allowed_s)
                   : "; the run may wait for it (--replace would start another one)";
  }
  run_.warn(message);
}

}  // namespace orrery
