#pragma once

#include <chrono>
#include <cstdint>

#include "model/time.h"

namespace orrery {

// The cluster's time from the machine's clocks: it goes on from where the log ended, however the
// machine's date was set meanwhile, and never back.
class Clock {
 public:
  // `era` is when cluster time was 0, `last` what it was when it was last written down.
  Clock(std::int64_t era_unix_ns, Time last);

  Time now() const;
  std::chrono::steady_clock::time_point at(Time time) const;

  static std::int64_t unix_ns();

 private:
  std::chrono::steady_clock::time_point started_;
  Time start_{};
};

}  // namespace orrery
