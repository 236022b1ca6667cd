#pragma once

#include <map>
#include <string>
#include <utility>
#include <vector>

#include "base/result.h"
#include "experiments/star/matrix.h"
#include "training/result/training_result.h"

namespace orrery {

// A run of the matrix: what it came to, or why it came to nothing, and its curve.
struct RunResult : TrainingResult {
  std::string problem{};                           // not empty: there is no result
  std::vector<std::pair<double, double>> curve{};  // seconds, accuracy
};

// Of `orrery-train run --json`. Text that is not such a result is an error.
Result<RunResult> parse_result(const std::string& json);
// curve.csv of a run's folder.
Result<std::vector<std::pair<double, double>>> parse_curve(const std::string& csv);

using RunResults = std::map<std::string, RunResult>;  // by MatrixRun::name()

}  // namespace orrery
