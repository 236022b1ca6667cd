#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "base/random.h"
#include "steer/selector.h"

namespace orrery {

struct SelectorOptions {
  int samples_least = 200;  // before these are in, the heuristic decides
  int refit_every = 50;     // samples
  double held_out = 0.25;   // the newest so large a part is not learned from but judged by
  double explore = 0.05;    // of decisions that the regression takes, so many take the runner-up
  std::uint64_t seed = 1;
};

// Decides between the learned regression and the heuristic. The regression is used only if it
// foresees the newest windows, which it was not shown, better than the heuristic does. What the
// heuristic foresees for a window is k * gradients_ratio / (1 + lambda * staleness), k fitted to
// the same windows that the regression learns from.
class SelectorChoice {
 public:
  // `regression` may be null: then the heuristic always decides.
  explicit SelectorChoice(ModeRegression* regression, const SelectorOptions& options = {});

  void saw(const SelectorSample& sample, double lambda);

  bool trusted() const { return trusted_; }
  double regression_error() const { return regression_error_; }  // root mean square, held out
  double heuristic_error() const { return heuristic_error_; }
  std::span<const SelectorSample> samples() const { return samples_; }

  // The place of the mode to take, or nothing if the heuristic is to decide.
  std::optional<std::size_t> choose(std::span<const ModeFeatures> candidates);

 private:
  void judge();

  ModeRegression* regression_;
  SelectorOptions options_;
  Random random_;
  std::vector<SelectorSample> samples_;
  std::vector<double> heuristic_;  // what it said, up to k
  std::size_t judged_at_ = 0;
  bool trusted_ = false;
  double regression_error_ = 0, heuristic_error_ = 0;
};

}  // namespace orrery
