#pragma once

#include "model/job.h"

namespace orrery {

// How long an iteration of an opportunistic job takes beside a guaranteed one on the same devices,
// which is never slowed down: it fits its stages into the times the other leaves each resource
// alone, and so needs a whole number of the other's iterations. Both profiles have three stages.
//
// After AntMan (OSDI '20), as Muri's simulator models it.
double opportunistic_iteration_s(const StageProfile& own, const StageProfile& guaranteed,
                                 double guaranteed_iteration_s);

// Beside another opportunistic job the two alternate.
inline constexpr double kOpportunisticPairSlowdown = 2;

}  // namespace orrery
