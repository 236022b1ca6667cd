#pragma once

#include <span>

#include "training/mode_selection/scoring/selector.h"

namespace orrery {

// How far off each of them was on windows that it had not learned from: root mean squares.
struct SelectorErrors {
  double regression = 0;
  double modeless = 0;   // the same regression without the features of the mode
  double heuristic = 0;  // (a + b phase) gradients_ratio / (1 + lambda staleness)
  double mean = 0;       // always the mean of what was learned from
  std::size_t windows = 0;

  // True if the regression should decide. To predict how fast the loss falls it is enough to know
  // how far training is; which mode is best it knows only if the mode's features help it.
  bool regression_is_best() const { return regression < heuristic && regression < modeless; }
};

// Learns from the ones and judges by the others; the regression has learned from `learned`
// afterwards. The heuristic's a and b are fitted to the same windows: without the phase, which the
// regression sees, it would lose for what has nothing to do with modes.
Result<SelectorErrors> judge_regression(ModeRegression& regression,
                                        std::span<const SelectorSample> learned,
                                        std::span<const SelectorSample> held_out);

// Of both, as if it had been one.
SelectorErrors together(const SelectorErrors& a, const SelectorErrors& b);

}  // namespace orrery
