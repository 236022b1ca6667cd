#include "live/daemon/server/clock.h"

#include <algorithm>

namespace orrery {

std::int64_t Clock::unix_ns() {
  return std::chrono::duration_cast<Duration>(std::chrono::system_clock::now().time_since_epoch())
      .count();
}

Clock::Clock(std::int64_t era_unix_ns, Time last)
    : started_(std::chrono::steady_clock::now()),
      start_(std::max(last, Time(Duration(unix_ns() - era_unix_ns)))) {}

Time Clock::now() const {
  return start_ + std::chrono::duration_cast<Duration>(std::chrono::steady_clock::now() - started_);
}

std::chrono::steady_clock::time_point Clock::at(Time time) const {
  constexpr Duration kFar = std::chrono::hours(1);
  return started_ + std::min(time - start_, (now() - start_) + kFar);
}

}  // namespace orrery
