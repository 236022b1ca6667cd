#pragma once

#include <cstdint>

#include "base/random.h"
#include "training/sync/order.h"
#include "training/twin/twin.h"

namespace orrery {

// What a twin's gradients and updates bring, by the fitted convergence model.
class TwinLearning {
 public:
  explicit TwinLearning(const TwinSetup& setup)  // which outlives it
      : setup_(setup), progress_(setup.convergence), scatter_(setup.seed * 2 + 1) {}

  // The loss and norms of a gradient on a task's parameters; its samples are known.
  void describe(Gradient& gradient, const Task& task) const;
  // Counts what goes in, by worker too.
  void apply(const ApplyUpdate& order, Time now, TwinResult& counts);
  const UpdateSample& newest() const { return newest_; }
  // As if judged on held-out samples; the staleness is that since the evaluation before.
  TwinPoint evaluate(Time made);

  double samples() const { return progress_.samples(); }
  double accuracy() const { return progress_.accuracy(); }

 private:
  const TwinSetup& setup_;
  TrainingProgress progress_;
  Random scatter_;
  UpdateSample newest_{};
  std::int64_t gradients_ = 0, staleness_ = 0;  // since the evaluation before
};

}  // namespace orrery
