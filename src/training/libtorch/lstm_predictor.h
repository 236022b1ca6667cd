#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>

#include "base/result.h"
#include "training/mode_selection/stragglers/predictor.h"

namespace orrery {

struct LstmPredictorOptions {
  int window = 25;   // iterations it looks at
  int horizon = 30;  // and predicts
  int hidden = 50;
  int steps = 1500;  // of Adam, 64 windows each
  double rate = 2e-3;
  double held_out = 0.3;  // share of each series, its end, that is kept for judging
  std::uint64_t seed = 1;
};

// How a fit fares on what it has not seen: mean |ln(predicted / fact)| over the whole horizon, and
// the same of saying that everything stays as it was last.
struct LstmPredictorFit {
  std::int64_t windows = 0;
  std::int64_t windows_held_out = 0;
  double error = 0;
  double error_of_last = 0;
};

// An LSTM of two layers over what a worker used and how long it took; from its state one head
// predicts what will be used and a second, from both, the times: all iterations at once, so that
// errors do not feed on themselves. Times are taken relative to the last one, so it carries over
// between models and batch sizes, and knows nothing at first but "as it was last".
class LstmPredictor : public IterationPredictor {
 public:
  virtual Status save(const std::string& path) const = 0;
  virtual const LstmPredictorFit& fit() const = 0;
};

// From the logs of runs. Needs at least one series longer than window + horizon on both sides of
// the split.
Result<std::unique_ptr<LstmPredictor>> fit_lstm_predictor(std::span<const IterationHistory> logged,
                                                          const LstmPredictorOptions& options);
Result<std::unique_ptr<LstmPredictor>> load_lstm_predictor(const std::string& path);

}  // namespace orrery
