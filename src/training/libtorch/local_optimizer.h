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
// GPU. Operation by operation the arithmetic of training/trainer/shard/flat_optimizer.h, so that
// shards and workers get the same numbers. `share`: the part of a
// global batch that the gradient sums up, more than 0; 1 is an ordinary step
// (training/sync/partial_step.h).
class LocalOptimizer {
 public:
  virtual ~LocalOptimizer() = default;
  virtual Status step(double rate, double share) = 0;
  Status step(double rate) { return step(rate, 1); }

  // For checkpoints: one run of floats as long as the parameters for each thing it remembers (none,
  // momentum; adam: three), and how many global batches it has stepped by.
  virtual std::span<const float> state() const = 0;
  virtual double batches() const = 0;
  virtual Status restore(std::span<const float> state, double batches) = 0;
};

// The learner outlives it.
Result<std::unique_ptr<LocalOptimizer>> make_local_optimizer(Learner& learner,
                                                             const LocalOptimizerOptions& options);

}  // namespace orrery
