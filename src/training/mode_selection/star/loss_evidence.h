#pragma once

#include <optional>

#include "training/mode_selection/scoring/loss_window.h"
#include "training/mode_selection/scoring/selector.h"
#include "training/mode_selection/scoring/staleness_cost.h"

namespace orrery {

// What the losses of a run teach: the cost of staleness, and one sample for the learned selector
// from each window of training in one mode. All calls that may close a window return its sample,
// if the window has one.
class LossEvidence {
 public:
  // The present mode is described again no sooner than after `sample_least`.
  LossEvidence(const LossWindowOptions& window, const StalenessCostOptions& staleness,
               Duration sample_least);

  std::optional<SelectorSample> add(const IterationSample& sample);
  // Training goes on at another learning rate; the same rate changes nothing.
  std::optional<SelectorSample> set_rate(double rate);
  bool is_other_rate(double rate) const;
  // Another mode begins; its first `settle` gradients belong to no window.
  void mode_changed(int settle);

  // The features of the present mode. Later windows are samples of it.
  bool is_description_due(Time now) const;
  void describe_present(const ModeFeatures& features, double ssgd_batch_s, Time now);

  double phase() const;  // share of the first loss that is left
  double lambda() const { return cost_.lambda(); }
  double lambda_optimistic() const { return cost_.lambda_optimistic(); }

 private:
  std::optional<SelectorSample> learn(const std::optional<LossWindow>& window);

  const Duration sample_least_;
  StalenessCost cost_;
  LossWindows windows_;
  double rate_ = 0;
  double first_loss_ = 0, loss_ = 0;         // of windows
  std::optional<SelectorSample> present_{};  // described, without a window
  Time described_at_{};
};

}  // namespace orrery
