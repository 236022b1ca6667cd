#include "training/sync/partial_step.h"

#include <algorithm>
#include <cmath>

namespace orrery {
namespace {

// What velocity from before the update adds to the parameters during it. It is the one function
// with carried(1) = memory and carried(a + b) = carried(a) + memory^a * carried(b).
double carried(double memory, double share) {
  return memory * (1 - std::pow(memory, share)) / (1 - memory);
}

}  // namespace

MomentumFactors momentum_factors(double momentum, double share) {
  const double keep = std::pow(momentum, share);
  const double velocity = carried(momentum, share);
  const double scale = (1 - momentum) * share;
  return {.step_slope = (share - velocity) / scale,
          .step_velocity = velocity,
          .keep = keep,
          .add = (1 - keep) / scale};
}

AdamFactors adam_factors(double beta1, double beta2, double share, double batches) {
  const double first = carried(beta1, share);
  // A mean that fades by k has (1 - k) / (1 + k) of the variance of what goes into it. That of a
  // part's gradient is 1 / share of a whole batch's.
  const double keep_recent = std::max(0.0, (1 - share) / (1 + share));
  return {.step_mean = share - first,
          .step_first = first,
          .rate_factor = share / (share - first * std::pow(beta1, batches)),
          .keep_first = std::pow(beta1, share),
          .keep_recent = batches > 0 ? keep_recent : 0,
          .keep_second = std::pow(beta2, share),
          .second_scale = 1 / std::sqrt(1 - std::pow(beta2, batches + share))};
}

}  // namespace orrery
