#pragma once

#include <limits>
#include <string>
#include <vector>

#include "base/result.h"

namespace orrery {

// A run as it was measured: what it had learned after each number of samples.
struct CurvePoint {
  double time_s = 0;
  double samples = 0;    // so far
  double staleness = 0;  // mean, of the gradients since the point before
  double rate = 1;       // learning rate, as a share of the first
  double accuracy = 0;   // 0 to 1
  double loss = std::numeric_limits<double>::quiet_NaN();  // if it is known
};
using TrainingCurve = std::vector<CurvePoint>;

// A curve.csv: a header with `samples` and `accuracy`, and `time_s`, `staleness`, `rate` and `loss`
// where they are known; other columns are passed over. Errors are file:line.
Result<TrainingCurve> read_training_curve(const std::string& path);
Result<TrainingCurve> parse_training_curve(const std::string& text, const std::string& place);

// What a folder of `orrery-train run --dir` says: its curve with the staleness of its iterations,
// and how long a sample took the faster half of its workers, all of the way included.
struct RunTask {  // one line of iterations.csv
  int worker = 0;
  double start_s = 0, end_s = 0;
  int samples = 0;
  double cpu_s = 0;  // that its process used meanwhile; 0: not measured
};
struct TrainingRun {
  TrainingCurve curve{};
  std::vector<RunTask> tasks{};
  double parameter_bytes = 0;  // that a task brought through its link; 0: not measured
  int workers = 0;
  double per_sample_s = 0;
  double jitter = 0;  // deviation of a task's time, as a share of it, without its worst tenths
};
Result<TrainingRun> read_training_run(const std::string& folder);

// The published runs of Sync-Switch are given by steps, that is updates. What a step was in each
// part of a run is not in the files.
struct CurvePhase {
  double until_step = 0;
  double samples_per_step = 0;
  double staleness = 0;
};
struct StepCurve {
  std::vector<CurvePhase> phases{};  // the last one goes on
  double rate_falls_at = 0;          // samples; to a tenth, and again after half as many
};
Result<TrainingCurve> read_step_curve(const std::string& path, const StepCurve& meaning);

}  // namespace orrery
