#pragma once

namespace orrery {

// Factors of an optimizer's step for an update that holds `share` of a global batch's samples: 1 is
// an ordinary step, 0.25 a quarter of one. Shares that add up to 1 do what one whole update does:
// exactly if the gradient stays the same, and each sample moves the parameters equally far in all.
// Memory fades with samples, not with updates. Derivation: docs/decisions/026.
//
// "slope" is the sum of weight * gradient over the update's terms plus share * decay * parameters:
// weight decay is a part of each sample's loss. Precondition: 0 < share.

// parameters -= rate * (step_slope * slope + step_velocity * velocity)
// velocity = keep * velocity + add * slope
struct MomentumFactors {
  double step_slope = 1, step_velocity = 0;
  double keep = 0, add = 1;
};
MomentumFactors momentum_factors(double momentum, double share);

// mean = slope / share
// direction = step_mean * mean + step_first * first
// first = keep_first * first + (1 - keep_first) * mean
// recent = keep_recent * recent + (1 - keep_recent) * mean
// second = keep_second * second + (1 - keep_second) * recent^2
// parameters -= rate * rate_factor * direction / (sqrt(second) * second_scale + epsilon)
//
// `recent` is about as noisy as the mean slope of a whole batch, so that second moments of small
// and of large updates are alike.
struct AdamFactors {
  double step_mean = 0, step_first = 0, rate_factor = 1;
  double keep_first = 0, keep_recent = 0, keep_second = 0;
  double second_scale = 1;
};
// `batches` is the sum of all shares before this update.
AdamFactors adam_factors(double beta1, double beta2, double share, double batches);

}  // namespace orrery
