#include "training/libtorch/local_optimizer.h"

#include <cmath>

#include "training/libtorch/torch_error.h"
#include "training/libtorch/torch_learner.h"
#include "training/sync/partial_step.h"

namespace orrery {
namespace {

// Scalars as the flat optimiser has them: rounded to float once.
float rounded(double value) { return static_cast<float>(value); }

class FlatTensorOptimizer : public LocalOptimizer {
 public:
  FlatTensorOptimizer(TorchLearner& learner, LocalOptimizerOptions options)
      : learner_(learner), options_(std::move(options)) {
    const torch::Tensor& like = learner_.flat_parameters().tensor();
    const std::int64_t runs = options_.kind == "adam" ? 3 : options_.momentum > 0 ? 1 : 0;
    state_ = FlatFloats(torch::zeros({runs * like.numel()}, like.options()));
    scratch_ = torch::empty_like(like);
    slope_ = torch::empty_like(like);
  }

  using LocalOptimizer::step;
  Status step(double rate, double share) override {
    if (!(share > 0)) return invalid("a step takes a part of a batch that is more than 0");
    try {
      const torch::NoGradGuard no_grad;
      torch::Tensor& parameters = learner_.flat_parameters().change();
      if (options_.kind == "adam") {
        share == 1 ? step_adam(parameters, rate) : step_part_of_adam(parameters, rate, share);
      } else {
        step_sgd(parameters, rate, share);
      }
      batches_ += share;
    } catch (const std::exception& caught) {
      return torch_error("stepping", caught);
    }
    return {};
  }

  std::span<const float> state() const override { return state_.here(); }
  double batches() const override { return batches_; }
  Status restore(std::span<const float> state, double batches) override {
    if (static_cast<std::int64_t>(state.size()) != state_.tensor().numel() || !(batches >= 0)) {
      return invalid("this is not the state of such an optimiser");
    }
    try {
      state_.change().copy_(torch::from_blob(const_cast<float*>(state.data()),
                                             {static_cast<std::int64_t>(state.size())}));
    } catch (const std::exception& caught) {
      return torch_error("restoring an optimiser", caught);
    }
    batches_ = batches;
    return {};
  }

 private:
  // Each product and each sum is an operation of its own: fused, they would round once less.
  const torch::Tensor& with_decay(const torch::Tensor& parameters, const torch::Tensor& gradient,
                                  double share) {
    if (options_.weight_decay == 0) return gradient;
    torch::mul_out(slope_, parameters, scalar(share * options_.weight_decay));
    return slope_.add_(gradient);
  }
  static torch::Tensor scalar(double value) { return torch::scalar_tensor(rounded(value)); }

  void step_sgd(torch::Tensor& parameters, double rate, double share) {
    const torch::Tensor& slope = with_decay(parameters, learner_.flat_gradient().tensor(), share);
    if (options_.momentum == 0) {
      torch::mul_out(scratch_, slope, scalar(rate));
    } else if (share == 1) {
      torch::Tensor& velocity = state_.change();
      velocity.mul_(rounded(options_.momentum)).add_(slope);
      torch::mul_out(scratch_, velocity, scalar(rate));
    } else {
      const MomentumFactors factors = momentum_factors(options_.momentum, share);
      torch::Tensor& velocity = state_.change();
      torch::mul_out(scratch_, slope, scalar(factors.step_slope));
      scratch_.add_(velocity * scalar(factors.step_velocity)).mul_(rounded(rate));
      velocity.mul_(rounded(factors.keep)).add_(slope * scalar(factors.add));
    }
    parameters.sub_(scratch_);
  }

  torch::Tensor run_of_state(std::int64_t run) {
    const std::int64_t count = slope_.numel();
    return state_.change().narrow(0, run * count, count);
  }

  void step_adam(torch::Tensor& parameters, double rate) {
    const torch::Tensor& slope = with_decay(parameters, learner_.flat_gradient().tensor(), 1);
    const double n = batches_ + 1;
    const float b1 = rounded(options_.beta1), b2 = rounded(options_.beta2);
    const float eta = rounded(rate / (1 - std::pow(options_.beta1, n)));
    const float scale = rounded(1 / std::sqrt(1 - std::pow(options_.beta2, n)));
    auto m = run_of_state(0), v = run_of_state(1);
    torch::mul_out(scratch_, slope, torch::scalar_tensor(1 - b1));
    m.mul_(b1).add_(scratch_);
    torch::mul_out(scratch_, slope, torch::scalar_tensor(1 - b2));
    v.mul_(b2).add_(scratch_.mul_(slope));
    run_of_state(2).copy_(slope);
    descend(parameters, m, v, {eta, scale});
  }

  void step_part_of_adam(torch::Tensor& parameters, double rate, double share) {
    const AdamFactors factors = adam_factors(options_.beta1, options_.beta2, share, batches_);
    const torch::Tensor part = learner_.flat_gradient().tensor() * scalar(1 / share);
    const torch::Tensor& mean = with_decay(parameters, part, 1);
    auto m = run_of_state(0), v = run_of_state(1), recent = run_of_state(2);
    const torch::Tensor direction =
        (mean * scalar(factors.step_mean)).add_(m * scalar(factors.step_first));
    m.mul_(rounded(factors.keep_first)).add_(mean * scalar(1 - factors.keep_first));
    const float keep = rounded(factors.keep_recent);
    recent.mul_(keep).add_(mean * torch::scalar_tensor(1 - keep));
    torch::mul_out(scratch_, recent, scalar(1 - factors.keep_second));
    v.mul_(rounded(factors.keep_second)).add_(scratch_.mul_(recent));
    descend(parameters, direction, v,
            {rounded(rate * factors.rate_factor), rounded(factors.second_scale)});
  }

  struct Descent {
    float eta = 0, scale = 1;
  };
  void descend(torch::Tensor& parameters, const torch::Tensor& direction, const torch::Tensor& v,
               const Descent& by) {
    torch::sqrt_out(scratch_, v);
    scratch_.mul_(by.scale).add_(rounded(options_.epsilon));
    if (!step_.defined()) step_ = torch::empty_like(parameters);
    torch::mul_out(step_, direction, torch::scalar_tensor(by.eta));
    parameters.sub_(step_.div_(scratch_));
  }

  TorchLearner& learner_;
  LocalOptimizerOptions options_;
  FlatFloats state_;
  torch::Tensor scratch_, slope_, step_;
  double batches_ = 0;
};

}  // namespace

Result<std::unique_ptr<LocalOptimizer>> make_local_optimizer(Learner& learner,
                                                             const LocalOptimizerOptions& options) {
  if (options.kind != "sgd" && options.kind != "adam") {
    return invalid("no optimiser '" + options.kind + "': there are sgd and adam");
  }
  TRY_ASSIGN(TorchLearner * ours, TorchLearner::of(learner));
  try {
    return std::unique_ptr<LocalOptimizer>(std::make_unique<FlatTensorOptimizer>(*ours, options));
  } catch (const std::exception& caught) {
    return torch_error("making an optimiser", caught);
  }
}

}  // namespace orrery
