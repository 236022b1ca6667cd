#pragma once

#include <cstdint>
#include <limits>

#include "model/time.h"

namespace orrery {

inline constexpr std::int64_t kNoDeadline_s = std::numeric_limits<std::int64_t>::max();

// Time in whole seconds for plans that are made in slots. What now has beyond a whole second is set
// aside, so that a plan begins exactly now.
class ElasticClock {
 public:
  void set(Time now) {
    const std::int64_t count = now.time_since_epoch().count();
    now_s_ = count / kSecond;
    beyond_ = Duration(count % kSecond);
  }
  std::int64_t now_s() const { return now_s_; }
  // Rounded down: a deadline in mid-second is kept by being early.
  std::int64_t second(Time time) const {
    const std::int64_t count = (time - beyond_).time_since_epoch().count();
    return count >= 0 ? count / kSecond : -((-count + kSecond - 1) / kSecond);
  }
  // A second past the end of the time line is never.
  Time instant(std::int64_t at) const {
    constexpr std::int64_t kLast = std::numeric_limits<std::int64_t>::max() / kSecond - 1;
    return at > kLast ? kNever : Time(Duration(at * kSecond) + beyond_);
  }

 private:
  static constexpr std::int64_t kSecond = 1'000'000'000;
  std::int64_t now_s_ = 0;
  Duration beyond_{};
};

}  // namespace orrery
