#pragma once

#include "base/result.h"
#include "commands/live_commands.h"

namespace orrery {

// Simulates the jobs of a live scheduler's log under the policies of `arguments`, on the nodes of
// the log or on --cluster. Jobs are as LiveTrace has them.
Status replay_live_variants(const ReplayArguments& arguments);

}  // namespace orrery
