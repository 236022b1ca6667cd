#pragma once

#include <cstdint>
#include <memory>

#include "training/mode_selection/stragglers/straggler.h"
#include "training/sync/director.h"

namespace orrery {

enum class StragglerRule {
  None,
  Greedy,   // ASP while a worker straggles, BSP again after
  Elastic,  // a straggler is taken out of the barrier until it has recovered
};

// Sync-Switch, after Li and others (ICDCS '21): BSP for a first part of the work, then ASP to the
// end. The part is found off line for jobs that recur; the published runs lie between 5 and 12 %.
// The rules for stragglers hold during BSP.
//
// Ours: a worker out of the barrier goes on by itself, its gradients counting as they come, since a
// worker without tasks could not be seen to recover. All-reduce has no ASP; a ring of one, which is
// a parameter server, stands for it. Learning rate and momentum need no rule at the switch, since a
// sample has the same weight in all modes.
struct SyncSwitchOptions {
  double bsp_part = 0.0625;  // of samples_limit
  std::int64_t samples_limit = 0;
  StragglerRule stragglers = StragglerRule::Greedy;
  StragglerOptions straggler{.enter = 0.5, .leave = 0.25, .patience = 3};
};

std::unique_ptr<Director> make_sync_switch_director(const SyncSwitchOptions& options);

}  // namespace orrery
