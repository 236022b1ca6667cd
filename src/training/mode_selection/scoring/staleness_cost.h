#pragma once

#include <deque>

#include "training/mode_selection/scoring/loss_window.h"

namespace orrery {

// lambda before anything has been measured: the relative number of gradients that a target takes,
// less 1, for each update of staleness. From the curves of Sync-Switch (Li and others, ICDCS '21;
// its published data): gradients to reach an accuracy under ASP, whose mean staleness is 7, over
// those under BSP, at levels reached before the first step of the learning rate: the median of 18
// levels of two models is 0.245, half of them between 0.21 and 0.28 (staleness_cost_test.cc derives
// it). It comes with momentum 0.9.
inline constexpr double kStalenessCostPrior = 0.25;

// The same for another momentum. What staleness costs grows with how far an update goes in the end,
// and that is rate / (1 - momentum): plain SGD goes a tenth as far. Ours, four pairs
// of runs (docs/systems/star.md): without momentum ASGD took cnn on MNIST 8 and 22 % more gradients
// than SSGD, 18 and 26 % with one worker slow, which is 0.011 to 0.037 where this says 0.025.
double staleness_prior(double momentum);

struct StalenessCostOptions {
  double prior = kStalenessCostPrior;
  double prior_factor = 2;    // one deviation of the prior is this factor up or down
  int windows = 16;           // the newest count, so lambda follows the phase of training
  double model_error = 0.25;  // by which a window's drop may miss the model, share of the mean drop
};

// lambda in need(staleness) = 1 + lambda * staleness, learned from the windows of a run: drop_k =
// (a + b k) / (1 + lambda staleness_k), where a + b k is what gradients without staleness would
// bring at that stage. For each lambda on a grid the line is fitted by weighted least squares; the
// answer is the posterior mean of ln lambda. Windows at another learning rate than the newest are
// forgotten. While all windows have the same staleness it stays at the prior.
class StalenessCost {
 public:
  explicit StalenessCost(const StalenessCostOptions& options = {});

  void add(const LossWindow& window);
  double lambda() const { return lambda_; }
  // One deviation below: what may well be. Modes are tried by it, since only a mode that is tried
  // teaches what its staleness costs; where it costs more, that is seen within a window or two.
  double lambda_optimistic() const { return lambda_optimistic_; }

 private:
  double misfit(double lambda) const;
  void estimate();

  StalenessCostOptions options_;
  std::deque<LossWindow> windows_;
  double lambda_, lambda_optimistic_;
};

}  // namespace orrery
