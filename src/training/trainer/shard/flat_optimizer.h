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
// out wherever the parameters are cut into shards, because every element goes its own way. An
// update of a part of a global batch takes that part of a step (training/sync/partial_step.h); one
// of a whole batch takes the step as it is usually written, to the bit.
class FlatOptimizer {
 public:
  FlatOptimizer() = default;
  FlatOptimizer(const OptimizerOptions& options, std::size_t parameters);

  // `gradient` is the weighted sum of an update that holds `share` of a global batch; share > 0.
  void step(std::span<float> parameters, std::span<const float> gradient, double rate,
            double share = 1);

  // What it remembers: this many floats for each parameter, one run of `parameters` after the other
  // (momentum: velocity; adam: first moment, second moment, recent slope), and how many global
  // batches it has stepped by.
  static std::size_t state_per_parameter(const OptimizerOptions& options);
  std::span<float> state() { return state_; }
  std::span<const float> state() const { return state_; }
  double batches() const { return batches_; }
  void set_batches(double batches) { batches_ = batches; }

 private:
  void step_plain(std::span<float> parameters, std::span<const float> gradient, double rate,
                  double share) const;
  void step_momentum(std::span<float> parameters, std::span<const float> gradient, double rate);
  void step_adam(std::span<float> parameters, std::span<const float> gradient, double rate);
  void step_part_of_momentum(std::span<float> parameters, std::span<const float> gradient,
                             double rate, double share);
  void step_part_of_adam(std::span<float> parameters, std::span<const float> gradient, double rate,
                         double share);

  OptimizerOptions options_{};
  std::vector<float> state_{};
  double batches_ = 0;
};

}  // namespace orrery
