#pragma once

#include <vector>

#include "base/result.h"
#include "cli/commands.h"
#include "cli/runs.h"

namespace orrery {

// The runs that these arguments ask for, every one of which can be made.
Result<std::vector<RunRequest>> simulate_requests(const SimulateArguments& arguments);

}  // namespace orrery
