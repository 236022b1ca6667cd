#pragma once

#include <limits>
#include <vector>

#include "model/time.h"

namespace orrery {

// Time as a released simulator counts it: seconds in floating point. Where two things happen at
// once, rounding decides which is first, so its policies have to round alike. The world moves it
// on; only policies in this folder see it.
struct ReleasedClock {
  bool runs = false;  // otherwise the loop that is simulated counts in nanoseconds, as all else
  double now_s = 0;
  std::vector<double> held_s;  // by job: how long it has held devices, in all
  std::vector<Time> ends;      // by job: when it ends by what the last round cost; kNever: unknown
  // The first exact instant at which the policy asked for a round since the last one, and the same
  // on the time line.
  double wake_s = std::numeric_limits<double>::infinity();
  Time wake = kNever;

  void ask(double exact_s, Time at) {
    if (exact_s >= wake_s) return;
    wake_s = exact_s;
    wake = at;
  }
  void forget() {
    wake_s = std::numeric_limits<double>::infinity();
    wake = kNever;
  }

  explicit ReleasedClock(std::size_t jobs) : held_s(jobs, 0), ends(jobs, kNever) {}
};

}  // namespace orrery
