#pragma once

#include <algorithm>

#include "live/job_runner/launch.h"

namespace orrery {

// When a launch gets its early signal and when it is stopped for its time limit. Times are
// boot_time(), and the limit counts from `began`, the start of the job's program.
class TimeLimit {
 public:
  TimeLimit() = default;  // none
  TimeLimit(const Launch& launch, Duration began) {
    if (launch.time_left <= Duration::zero()) return;
    stop_at_ = began + launch.time_left;
    if (launch.signal != 0) signal_at_ = stop_at_ - launch.signal_before;
  }

  bool is_over(Duration now) const { return now >= stop_at_; }
  // Once; not where the limit is over as well.
  bool take_signal(Duration now) {
    if (now < signal_at_) return false;
    signal_at_ = Duration::max();
    return !is_over(now);
  }
  // When one of the two is due; Duration::max(): never.
  Duration next() const { return std::min(signal_at_, stop_at_); }

 private:
  Duration signal_at_ = Duration::max();
  Duration stop_at_ = Duration::max();
};

}  // namespace orrery
