#pragma once

#include "base/result.h"
#include "experiments/figures/reproduce_arguments.h"

namespace orrery {

// Trains for real, in every mode under every pattern of straggling, and judges STAR by it. Runs
// that are in the folder of results are not made again, so it can be broken off and gone on with.
Status reproduce_star(const ReproduceArguments& arguments);

}  // namespace orrery
