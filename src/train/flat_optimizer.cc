#include "train/flat_optimizer.h"

#include <fmt/format.h>

#include <cmath>

#include "base/invariant.h"

namespace orrery {

Status check(const OptimizerOptions& options) {
  const auto share = [](double value) { return value >= 0 && value < 1; };
  if (options.kind != "sgd" && options.kind != "adam") {
    return invalid(fmt::format("--optimizer {}: there are sgd and adam", options.kind));
  }
  if (!share(options.momentum) || !share(options.beta1) || !share(options.beta2)) {
    return invalid("--momentum is at least 0 and less than 1");
  }
  if (!(options.weight_decay >= 0) || !std::isfinite(options.weight_decay)) {
    return invalid("--weight-decay is 0 or more");
  }
  return {};
}

std::size_t FlatOptimizer::state_per_parameter(const OptimizerOptions& options) {
  if (options.kind == "adam") return 2;
  return options.momentum > 0 ? 1 : 0;
}

FlatOptimizer::FlatOptimizer(const OptimizerOptions& options, std::size_t parameters)
    : options_(options), state_(parameters * state_per_parameter(options)) {}

void FlatOptimizer::step(std::span<float> parameters, std::span<const float> gradient,
                         double rate) {
  INVARIANT(parameters.size() == gradient.size(), "one number of the gradient for each parameter");
  ++steps_;
  if (options_.kind == "adam") {
    step_adam(parameters, gradient, rate);
  } else {
    step_sgd(parameters, gradient, rate);
  }
}

void FlatOptimizer::step_sgd(std::span<float> parameters, std::span<const float> gradient,
                             double rate) {
  const auto eta = static_cast<float>(rate);
  const auto decay = static_cast<float>(options_.weight_decay);
  const auto momentum = static_cast<float>(options_.momentum);
  float* const p = parameters.data();
  const float* const g = gradient.data();
  const std::size_t count = parameters.size();
  if (momentum == 0) {
    for (std::size_t i = 0; i < count; ++i) p[i] -= eta * (g[i] + decay * p[i]);
    return;
  }
  float* const velocity = state_.data();
  for (std::size_t i = 0; i < count; ++i) {
    velocity[i] = momentum * velocity[i] + (g[i] + decay * p[i]);
    p[i] -= eta * velocity[i];
  }
}

void FlatOptimizer::step_adam(std::span<float> parameters, std::span<const float> gradient,
                              double rate) {
  const auto n = static_cast<double>(steps_);
  const auto b1 = static_cast<float>(options_.beta1);
  const auto b2 = static_cast<float>(options_.beta2);
  const auto eta = static_cast<float>(rate / (1 - std::pow(options_.beta1, n)));
  const auto scale = static_cast<float>(1 / std::sqrt(1 - std::pow(options_.beta2, n)));
  const auto epsilon = static_cast<float>(options_.epsilon);
  const auto decay = static_cast<float>(options_.weight_decay);
  float* const p = parameters.data();
  const float* const g = gradient.data();
  const std::size_t count = parameters.size();
  float* const m = state_.data();
  float* const v = state_.data() + count;
  for (std::size_t i = 0; i < count; ++i) {
    const float slope = g[i] + decay * p[i];
    m[i] = b1 * m[i] + (1 - b1) * slope;
    v[i] = b2 * v[i] + (1 - b2) * slope * slope;
    p[i] -= eta * m[i] / (std::sqrt(v[i]) * scale + epsilon);
  }
}

}  // namespace orrery
