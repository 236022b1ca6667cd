#pragma once

#include <memory>

#include "training/mode_selection/stragglers/predictor.h"
#include "training/sync/director.h"

namespace orrery {

// Semi-dynamic load balancing, after LB-BSP (Chen and others, SoCC '20): SSGD whose batches are in
// proportion to the workers' predicted speeds, so that all reach the barrier together. The global
// batch stays, gradients count by their samples.
//
// Ours: the predictor is a parameter instead of its recurrent network; a batch moves by a limited
// step at a time, and not for a trifle. `fixed_parts` is its rule for devices whose time is not in
// proportion to the batch.
struct LbBspOptions {
  int every_rounds = 3;        // global batches between two changes
  int tasks_least = 3;         // of each worker, before the first
  double step_most = 0.25;     // of an equal batch, that a batch may move at once
  double change_least = 0.05;  // of an equal batch: if none would move by more, nothing changes
  double batch_least = 1;      // samples
  double batch_most = 4;       // times an equal batch
  bool fixed_parts = false;
};

// Without a predictor it is the smoothed mean.
std::unique_ptr<Director> make_lb_bsp_director(
    const LbBspOptions& options = {}, std::unique_ptr<IterationPredictor> predictor = nullptr);

}  // namespace orrery
