#pragma once

#include <vector>

#include "live/daemon/policy/gate.h"
#include "live/daemon/rights/entitlements.h"

namespace orrery {

// Takes the jobs out of `jobs` that would bring their user or their tenant above its limit of GPUs
// in use, and gives them with the reason. Jobs that run are counted first and never taken out: a
// lowered limit stops no job. Then jobs that wait, by priority and age, as long as they fit; a
// smaller one may pass one that does not. An elastic job counts with the most it may get.
std::vector<Held> take_over_limit(std::vector<GateJob>& jobs, const Entitlements& entitlements);

}  // namespace orrery
