#pragma once

#include <chrono>
#include <cmath>
#include <cstdint>
#include <limits>

namespace orrery {

// The cluster's time line, in whole nanoseconds since the run began (292 years fit). It has no
// now(): the time is an argument, so a simulated hour and a real hour are the same to every policy.
struct ClusterTime {};
using Duration = std::chrono::nanoseconds;
using Time = std::chrono::time_point<ClusterTime, Duration>;

inline constexpr Time kNever{Duration(std::numeric_limits<std::int64_t>::max())};

inline double seconds(Duration duration) { return static_cast<double>(duration.count()) / 1e9; }
inline double seconds(Time time) { return seconds(time.time_since_epoch()); }

// The nearest whole nanosecond. A value past the end of the time line stays at its end.
inline Duration from_seconds(double value) {
  constexpr double kEnd = 9.2e9;
  if (!(value < kEnd)) return kNever.time_since_epoch();
  if (value < -kEnd) return Duration(std::numeric_limits<std::int64_t>::min());
  return Duration(std::llround(value * 1e9));
}
inline Time time_from_seconds(double value) { return Time(from_seconds(value)); }

}  // namespace orrery
