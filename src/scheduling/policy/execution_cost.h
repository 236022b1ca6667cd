#pragma once

#include <algorithm>
#include <cmath>

#include "model/time.h"

namespace orrery {

// What a round costs the jobs that run, where rounds cost time and a decision may be carried out
// late.
struct ExecutionCost {
  Duration mean{};      // of a round, to a job that goes on
  Duration going_on{};  // of the round that is held now
  Duration restart{};   // in some rounds every job restarts, which takes this besides a start
  Duration late{};      // a change may come so much later than it is asked for
  double start_s = 0;   // a start takes this, and as much again for each doubling of the GPUs

  Duration start(int gpus) const {
    return from_seconds(start_s * (std::log2(std::max(gpus, 1)) + 1));
  }
};

}  // namespace orrery
