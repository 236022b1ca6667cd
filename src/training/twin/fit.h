#pragma once

#include <span>

#include "base/result.h"
#include "training/twin/convergence.h"
#include "training/twin/curves.h"

namespace orrery {

struct ConvergenceFit {
  ConvergenceModel model{};
  double accuracy_error = 0;  // root of the mean square over all points
  double loss_error = 0;
  int points = 0;
};

// The model that comes nearest to all these curves. What costs staleness has is known only where
// curves differ in it; lambda stays as `from` says otherwise. Too few points are refused.
Result<ConvergenceFit> fit_convergence(std::span<const TrainingCurve> curves,
                                       const ConvergenceModel& from = {});

// How far a model misses a curve it may never have seen: root of the mean square of accuracy.
double accuracy_error(const ConvergenceModel& model, const TrainingCurve& curve);

}  // namespace orrery
