#pragma once

#include <cmath>

#include "base/random.h"

namespace orrery {

// How accuracy and loss follow the gradients that went into the parameters. A sample counts for
// less the staler its gradient is, 1 / (1 + lambda * staleness), and what is left to learn shrinks
// with the effective samples E as (1 + E / scale)^-power. Staleness also costs some accuracy at the
// end, which no amount of training brings back. Everything is a mean over runs; `scatter` is what
// one evaluation deviates. Fitted by fit_convergence().
struct ConvergenceModel {
  double accuracy_first = 0.1;
  double accuracy_last = 0.95;  // without staleness, after endless training
  double loss_first = 2.3;
  double loss_last = 0.05;
  double scale_samples = 20'000;
  double power = 1;
  double staleness_cost = 0.25;  // lambda
  double plateau_cost = 0;       // accuracy at the end, for each update of staleness
  double noise_scale = 1'000;    // samples: trace of the gradient's covariance over |G|^2
  double scatter = 0;

  double worth(double staleness) const { return 1 / (1 + staleness_cost * staleness); }
  double left(double effective_samples) const {
    return std::pow(1 + effective_samples / scale_samples, -power);
  }
  double accuracy(double effective_samples, double staleness) const {
    const double done = 1 - left(effective_samples);
    return accuracy_first + done * (accuracy_last - accuracy_first - plateau_cost * staleness);
  }
  double loss(double effective_samples) const {
    return loss_last + (loss_first - loss_last) * left(effective_samples);
  }
};

// One run's way along such a model.
class Progress {
 public:
  explicit Progress(const ConvergenceModel& model) : model_(model) {}

  void apply(double samples, double staleness) {
    effective_ += samples * model_.worth(staleness);
    samples_ += samples;
    // The plateau follows how stale gradients were lately, not at the beginning.
    constexpr double kMemory = 0.001;
    staleness_ += kMemory * (staleness - staleness_);
  }

  double samples() const { return samples_; }
  double effective_samples() const { return effective_; }
  double accuracy() const { return model_.accuracy(effective_, staleness_); }
  double loss() const { return model_.loss(effective_); }
  // |G|^2 of the true gradient, in units of its first value: falls as the loss does.
  double gradient_norm2() const {
    return (loss() - model_.loss_last) / (model_.loss_first - model_.loss_last);
  }

 private:
  ConvergenceModel model_;
  double samples_ = 0, effective_ = 0, staleness_ = 0;
};

}  // namespace orrery
