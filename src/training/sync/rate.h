#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace orrery {

// How the learning rate follows the number of workers. The global batch stays the same whatever it
// is, so None is right for most; the others are for runs whose rate was chosen for another number.
//
// InverseSquareRoot is the rule of Tensor2Tensor: the base rate is that of one worker, and a worker
// among n takes it over the square root of n.
enum class RateScaling { None, Linear, SquareRoot, InverseSquareRoot };

// The learning rate at a point of the run: a base rate, a warm-up, steps, and the membership's
// factor, which counts from the number of workers the run began with and changes only with
// membership.
struct RateRule {
  double base = 0.1;
  std::int64_t warm_up_samples = 0;  // linear from 0
  struct Step {
    std::int64_t after_samples = 0;
    double factor = 0.1;  // of the rate before
  };
  std::vector<Step> steps{};
  RateScaling scaling = RateScaling::None;
  int workers = 0;  // the base rate is theirs; 0: of those the run began with

  double at(std::int64_t samples_done, int workers_now, int workers_first) const;
  // The membership's factor alone.
  double factor(int workers_now, int workers_first) const;
};

Result<RateScaling> parse_rate_scaling(std::string_view text);

}  // namespace orrery
