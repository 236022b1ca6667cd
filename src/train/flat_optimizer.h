#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "base/result.h"

namespace orrery {

struct OptimizerOptions {
  std::string kind = "sgd";                           // or "adam"
  double momentum = 0;                                // sgd
  double weight_decay = 0;                            // added to the gradient, in both
  double beta1 = 0.9, beta2 = 0.999, epsilon = 1e-8;  // adam
};
Status check(const OptimizerOptions& options);

// Turns a gradient into a step of the parameters, all of them flat floats: the same numbers come
// out wherever the parameters are cut into shards, because every element goes its own way.
class FlatOptimizer {
 public:
  FlatOptimizer() = default;
  FlatOptimizer(const OptimizerOptions& options, std::size_t parameters);

  void step(std::span<float> parameters, std::span<const float> gradient, double rate);

  // What it remembers: so many floats for each parameter, one run of `parameters` after the other,
  // and the number of steps.
  static std::size_t state_per_parameter(const OptimizerOptions& options);
  std::span<float> state() { return state_; }
  std::span<const float> state() const { return state_; }
  std::int64_t steps() const { return steps_; }
  void set_steps(std::int64_t steps) { steps_ = steps; }

 private:
  void step_sgd(std::span<float> parameters, std::span<const float> gradient, double rate);
  void step_adam(std::span<float> parameters, std::span<const float> gradient, double rate);

  OptimizerOptions options_{};
  std::vector<float> state_{};
  std::int64_t steps_ = 0;
};

}  // namespace orrery
