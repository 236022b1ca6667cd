#pragma once

#include <cstdint>
#include <vector>

#include "training/sync/mode.h"

namespace orrery {

// Where a run stands, for a checkpoint: what a Conductor goes on from. Gradients that were held are
// applied before one is taken, and tasks under way are handed out again.
struct ConductorState {
  ParameterVersion version = 0;
  std::int64_t next_sample = 0;
  std::vector<Samples> again{};  // before that: handed out, but not used
  std::int64_t next_task = 1;
  std::int64_t samples_done = 0;
  std::int64_t gradients_done = 0;
  Mode mode{};
};

}  // namespace orrery
