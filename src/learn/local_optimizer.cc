#include "learn/local_optimizer.h"

#include <cmath>

#include "learn/torch_error.h"
#include "learn/torch_learner.h"

namespace orrery {
namespace {

// Scalars as the flat optimiser has them: rounded to float once.
float rounded(double value) { return static_cast<float>(value); }

class FlatTensorOptimizer : public LocalOptimizer {
 public:
  FlatTensorOptimizer(TorchLearner& learner, LocalOptimizerOptions options)
      : learner_(learner), options_(std::move(options)) {
    const torch::Tensor& like = learner_.flat_parameters().tensor();
    const std::int64_t runs = options_.kind == "adam" ? 2 : options_.momentum > 0 ? 1 : 0;
    state_ = FlatFloats(torch::zeros({runs * like.numel()}, like.options()));
    scratch_ = torch::empty_like(like);
    slope_ = torch::empty_like(like);
  }

  Status step(double rate) override {
    try {
      const torch::NoGradGuard no_grad;
      ++steps_;
      torch::Tensor& parameters = learner_.flat_parameters().change();
      const torch::Tensor& gradient = learner_.flat_gradient().tensor();
      // Each product and each sum is an operation of its own: fused, they would round once less.
      if (options_.weight_decay != 0) {
        torch::mul_out(slope_, parameters, torch::scalar_tensor(rounded(options_.weight_decay)));
        slope_.add_(gradient);
      }
      const torch::Tensor& slope = options_.weight_decay != 0 ? slope_ : gradient;
      if (options_.kind == "adam") {
        step_adam(parameters, slope, rate);
      } else {
        step_sgd(parameters, slope, rate);
      }
    } catch (const std::exception& caught) {
      return torch_error("stepping", caught);
    }
    return {};
  }

  std::span<const float> state() const override { return state_.here(); }
  std::int64_t steps() const override { return steps_; }
  Status restore(std::span<const float> state, std::int64_t steps) override {
    if (static_cast<std::int64_t>(state.size()) != state_.tensor().numel() || steps < 0) {
      return invalid("this is not the state of such an optimiser");
    }
    try {
      state_.change().copy_(torch::from_blob(const_cast<float*>(state.data()),
                                             {static_cast<std::int64_t>(state.size())}));
    } catch (const std::exception& caught) {
      return torch_error("restoring an optimiser", caught);
    }
    steps_ = steps;
    return {};
  }

 private:
  void step_sgd(torch::Tensor& parameters, const torch::Tensor& slope, double rate) {
    if (options_.momentum == 0) {
      torch::mul_out(scratch_, slope, torch::scalar_tensor(rounded(rate)));
    } else {
      torch::Tensor& velocity = state_.change();
      velocity.mul_(rounded(options_.momentum)).add_(slope);
      torch::mul_out(scratch_, velocity, torch::scalar_tensor(rounded(rate)));
    }
    parameters.sub_(scratch_);
  }

  void step_adam(torch::Tensor& parameters, const torch::Tensor& slope, double rate) {
    const auto n = static_cast<double>(steps_);
    const float b1 = rounded(options_.beta1), b2 = rounded(options_.beta2);
    const float eta = rounded(rate / (1 - std::pow(options_.beta1, n)));
    const float scale = rounded(1 / std::sqrt(1 - std::pow(options_.beta2, n)));
    const std::int64_t count = parameters.numel();
    auto m = state_.change().narrow(0, 0, count), v = state_.change().narrow(0, count, count);
    torch::mul_out(scratch_, slope, torch::scalar_tensor(1 - b1));
    m.mul_(b1).add_(scratch_);
    torch::mul_out(scratch_, slope, torch::scalar_tensor(1 - b2));
    v.mul_(b2).add_(scratch_.mul_(slope));
    torch::sqrt_out(scratch_, v);
    scratch_.mul_(scale).add_(rounded(options_.epsilon));
    if (!step_.defined()) step_ = torch::empty_like(parameters);
    torch::mul_out(step_, m, torch::scalar_tensor(eta));
    parameters.sub_(step_.div_(scratch_));
  }

  TorchLearner& learner_;
  LocalOptimizerOptions options_;
  FlatFloats state_;
  torch::Tensor scratch_, slope_, step_;
  std::int64_t steps_ = 0;
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
