#pragma once

#include <cmath>

namespace orrery {

// How accuracy and loss follow the gradients that went into the parameters. A sample counts for
// less the staler its gradient is, 1 / (1 + lambda * staleness), and what is left to learn shrinks
// with the effective samples E as (1 + E / scale)^-power. How high it ends depends on the learning
// rate, and staleness lowers it the more the higher the rate is, until the rate falls. Everything
// is a mean over runs; `scatter` is what one evaluation deviates. Fitted by fit_convergence().
struct ConvergenceModel {
  double accuracy_first = 0.1;
  double accuracy_last = 0.95;  // after endless training at the least rate
  double loss_first = 2.3;
  double loss_last = 0.05;
  double scale_samples = 20'000;
  double power = 1;
  double staleness_cost = 0.25;  // lambda
  double rate_cost = 0;          // accuracy at the end, at the rate the run began with
  double plateau_cost = 0;       // the same, for each update of staleness
  double noise_scale = 1'000;    // samples: trace of the gradient's covariance over |G|^2
  double scatter = 0;

  double worth(double staleness) const { return 1 / (1 + staleness_cost * staleness); }
  double left(double effective_samples) const {
    return std::pow(1 + effective_samples / scale_samples, -power);
  }
  // `rate` is a share of the rate that the run began with.
  double accuracy(double effective_samples, double staleness, double rate) const {
    const double last = accuracy_last - rate * (rate_cost + plateau_cost * staleness);
    return accuracy_first + (1 - left(effective_samples)) * (last - accuracy_first);
  }
  double loss(double effective_samples) const {
    return loss_last + (loss_first - loss_last) * left(effective_samples);
  }
};

// One run's way along such a model.
class TrainingProgress {
 public:
  explicit TrainingProgress(const ConvergenceModel& model) : model_(model) {}

  void apply(double samples, double staleness, double rate) {
    effective_ += samples * model_.worth(staleness);
    samples_ += samples;
    rate_ = rate;
    // How stale gradients were lately is what counts for where it ends.
    constexpr double kMemory = 0.001;
    staleness_ += kMemory * (staleness - staleness_);
  }

  double samples() const { return samples_; }
  double effective_samples() const { return effective_; }
  double accuracy() const { return model_.accuracy(effective_, staleness_, rate_); }
  double loss() const { return model_.loss(effective_); }
  // |G|^2 of the true gradient, in units of its first value: falls as the loss does.
  double gradient_norm2() const { return model_.left(effective_); }

 private:
  ConvergenceModel model_;
  double samples_ = 0, effective_ = 0, staleness_ = 0, rate_ = 1;
};

}  // namespace orrery
