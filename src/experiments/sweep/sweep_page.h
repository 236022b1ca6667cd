#pragma once

#include <string>

#include "experiments/sweep/sweep_statistics.h"

namespace orrery {

// The report of a sweep: each shown metric over the swept parameter with its intervals, two
// parameters as a heat map, two metrics with their Pareto front, and the table of all groups.
std::string sweep_page(const SweepPlan& plan, const SweepStatistics& statistics,
                       const std::string& name);

}  // namespace orrery
