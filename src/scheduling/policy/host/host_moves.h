#pragma once

#include "scheduling/policy/host/host_rooms.h"

namespace orrery {

// Lets jobs that would be faster on another node go there, into free GPUs or in exchange for a job
// of the same size, where that wins more work than the restarts cost.
void make_moves_that_pay(Ledger& ledger, HostRooms& rooms);

}  // namespace orrery
