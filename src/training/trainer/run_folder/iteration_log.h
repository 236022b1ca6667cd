#pragma once

#include <string>
#include <vector>

#include "base/result.h"
#include "training/mode_selection/stragglers/predictor.h"

namespace orrery {

// iterations.csv of a run's folder, one series for each worker in ascending order.
Result<std::vector<IterationHistory>> read_iterations(const std::string& folder);
Result<std::vector<IterationHistory>> parse_iterations(const std::string& text);

}  // namespace orrery
