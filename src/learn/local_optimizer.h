#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>

#include "base/result.h"

namespace orrery {

class Learner;

struct LocalOptimizerOptions {
  std::string kind = "sgd";                           // or "adam"
  double momentum = 0;                                // sgd
  double weight_decay = 0;                            // added to the gradient, in both
  double beta1 = 0.9, beta2 = 0.999, epsilon = 1e-8;  // adam
};

// Steps a learner's parameters by its own gradient, where they are: nothing crosses to or from a
// GPU. Operation by operation the arithmetic of train/flat_optimizer.h, so that whoever holds the
// parameters, shard or worker, gets the same numbers.
class LocalOptimizer {
 public:
  virtual ~LocalOptimizer() = default;
  virtual Status step(double rate) = 0;

  // For checkpoints: one run of floats as long as the parameters for each thing it remembers (none,
  // momentum; adam: two), and the number of steps.
  virtual std::span<const float> state() const = 0;
  virtual std::int64_t steps() const = 0;
  virtual Status restore(std::span<const float> state, std::int64_t steps) = 0;
};

// The learner outlives it.
Result<std::unique_ptr<LocalOptimizer>> make_local_optimizer(Learner& learner,
                                                             const LocalOptimizerOptions& options);

}  // namespace orrery
