#pragma once

#include <vector>

#include "base/result.h"
#include "commands/commands.h"
#include "experiments/runs/runs.h"

namespace orrery {

// The runs that these arguments ask for, every one of which can be made.
// `drawn`: how many jobs a trace that goes on is to have; 0: as it likes.
Result<std::vector<RunRequest>> simulate_requests(const SimulateArguments& arguments,
                                                  std::int64_t drawn = 0);

}  // namespace orrery
