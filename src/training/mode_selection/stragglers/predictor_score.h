#pragma once

#include <span>
#include <string>
#include <vector>

#include "training/mode_selection/stragglers/predictor.h"
#include "training/mode_selection/stragglers/straggler.h"

namespace orrery {

struct PredictorScoreOptions {
  int horizon = 10;  // iterations
  int warm_up = 20;  // iterations of each worker before predictors are asked
  double batch = 0;  // samples of a task for which times are compared; 0: the mean of the series
  StragglerOptions straggler{};
};

// How well a predictor predicts stragglers. Positives are (iteration, distance) pairs for which
// straggling was predicted.
struct PredictorScore {
  std::string name{};
  std::int64_t predicted = 0;
  double error = 0;  // mean |ln(predicted / fact)|
  std::int64_t true_positives = 0, false_positives = 0, false_negatives = 0;
  std::int64_t onsets = 0;     // a worker began to straggle
  double lead_iterations = 0;  // mean over onsets of how many iterations before it was said, and
                               // said from then on; 0 for one that was not predicted

  double precision() const;  // 1 if straggling was never predicted
  double recall() const;     // 1 if no worker straggled
};

// Judges predictors on logged series, one for each worker of a run. At each iteration of a worker
// each predicts the next `horizon` of it and of the others, from what had been seen until
// then; it is predicted to straggle at a distance if its time there is, by the rule, slower than
// the fastest's at that distance. The facts are judged by the same rule on the median of three
// iterations, against the newest of the others.
std::vector<PredictorScore> score_predictors(std::span<const IterationHistory> series,
                                             std::span<IterationPredictor* const> predictors,
                                             const PredictorScoreOptions& options = {});

}  // namespace orrery
