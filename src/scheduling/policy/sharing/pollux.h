#pragma once

#include <map>
#include <memory>
#include <string>

#include "scheduling/policy/sharing/divider.h"
#include "scheduling/prediction/goodput.h"

namespace orrery {

// Pollux (OSDI '21): every so often all jobs get the numbers of GPUs with which the mean of their
// speedups is greatest. The mean is harmonic, so that no job is forgotten; a speedup is that over
// an equal share of the cluster; and a change counts less, the more of its life a job has spent
// starting. What a mean of that kind is made of adds up, so the best division is found exactly, by
// dynamic programming over the GPUs. Departure: the paper searches by a genetic algorithm.
//
// Jobs of the models in `goodputs` choose their batch size by themselves; others run by their
// curve.
std::unique_ptr<ShareRule> make_pollux(const Workload& workload,
                                       std::map<std::string, Goodput> goodputs);

}  // namespace orrery
