#pragma once

#include "scheduling/policy/host/host_nodes.h"

namespace orrery {

// Lets jobs that would be faster on another node go there, into free GPUs or in exchange for a job
// of the same size, where that wins more work than the restarts cost.
void make_moves(Ledger& ledger, HostNodes& nodes);

}  // namespace orrery
