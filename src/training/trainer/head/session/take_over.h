#pragma once

#include <span>
#include <string>
#include <vector>

#include "base/result.h"
#include "training/sync/conductor_state.h"
#include "training/trainer/transport/messages.h"

namespace orrery {

// What another head makes of what the shards of a run have kept.
struct TakeOver {
  bool goes_on = false;    // from the newest version that a shard has; nothing is computed twice
  std::string why{};       // it does not, although some shards hold parameters
  ConductorState state{};  // where the run stands at that version
  double elapsed_s = 0;    // training time until then
  std::vector<std::vector<ApplyMessage>> missing{};  // of each shard: updates that others have had
};

// A head orders an update only when all shards have the pieces of its gradients. So a shard that is
// some updates behind can make them itself, if one that is ahead has kept them. Otherwise, and if
// a shard is new, training goes on from a checkpoint.
TakeOver take_over(std::span<const ShardHolding> shards);

// Tasks of one head have other numbers than those of the heads before, so that a gradient that is
// late is never taken for another one.
std::int64_t first_task_of(std::int64_t epoch);

}  // namespace orrery
