#pragma once

#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "base/result.h"
#include "experiments/star/matrix.h"

namespace orrery {

// What one run gave.
struct RunResult {
  std::optional<double> time_to_target_s{};  // none: not reached in time
  double final_accuracy = 0;
  double wall_s = 0;
  double training_s = 0;
  double limits_moved = 0;  // by the servers that were shared
  double gradients = 0;
  double task_cpu_s =
      0;  // of CPU that workers spent on a gradient: the machine's speed shows in it
  double mean_staleness = 0;
  int mode_switches = 0;
  std::string injector{};
  bool trusted = true;                             // the machine was not too busy
  std::string problem{};                           // why there is none of the above
  std::vector<std::pair<double, double>> curve{};  // seconds, accuracy
};

// Of `orrery-train run --json`. Text that is not such a result is an error.
Result<RunResult> parse_result(const std::string& json);
// curve.csv of a run's folder.
Result<std::vector<std::pair<double, double>>> parse_curve(const std::string& csv);

using RunResults = std::map<std::string, RunResult>;  // by MatrixRun::name()

}  // namespace orrery
