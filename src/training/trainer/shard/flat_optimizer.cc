#include "training/trainer/shard/flat_optimizer.h"

#include <fmt/format.h>

#include <cmath>

#include "base/invariant.h"
#include "training/sync/partial_step.h"

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
  if (options.kind == "adam") return 3;
  return options.momentum > 0 ? 1 : 0;
}

FlatOptimizer::FlatOptimizer(const OptimizerOptions& options, std::size_t parameters)
    : options_(options), state_(parameters * state_per_parameter(options)) {}

void FlatOptimizer::step(std::span<float> parameters, std::span<const float> gradient, double rate,
                         double share) {
  INVARIANT(parameters.size() == gradient.size(), "one number of the gradient for each parameter");
  INVARIANT(share > 0, "an update holds samples");
  const bool whole = share == 1;
  if (options_.kind == "adam") {
    whole ? step_adam(parameters, gradient, rate)
          : step_part_of_adam(parameters, gradient, rate, share);
  } else if (options_.momentum == 0) {
    step_plain(parameters, gradient, rate, share);
  } else {
    whole ? step_momentum(parameters, gradient, rate)
          : step_part_of_momentum(parameters, gradient, rate, share);
  }
  batches_ += share;
}

void FlatOptimizer::step_plain(std::span<float> parameters, std::span<const float> gradient,
                               double rate, double share) const {
  const auto eta = static_cast<float>(rate);
  const auto decay = static_cast<float>(share * options_.weight_decay);
  float* const p = parameters.data();
  const float* const g = gradient.data();
  const std::size_t count = parameters.size();
  for (std::size_t i = 0; i < count; ++i) p[i] -= eta * (g[i] + decay * p[i]);
}

void FlatOptimizer::step_momentum(std::span<float> parameters, std::span<const float> gradient,
                                  double rate) {
  const auto eta = static_cast<float>(rate);
  const auto decay = static_cast<float>(options_.weight_decay);
  const auto momentum = static_cast<float>(options_.momentum);
  float* const p = parameters.data();
  const float* const g = gradient.data();
  const std::size_t count = parameters.size();
  float* const velocity = state_.data();
  for (std::size_t i = 0; i < count; ++i) {
    velocity[i] = momentum * velocity[i] + (g[i] + decay * p[i]);
    p[i] -= eta * velocity[i];
  }
}

void FlatOptimizer::step_part_of_momentum(std::span<float> parameters,
                                          std::span<const float> gradient, double rate,
                                          double share) {
  const MomentumFactors factors = momentum_factors(options_.momentum, share);
  const auto eta = static_cast<float>(rate);
  const auto decay = static_cast<float>(share * options_.weight_decay);
  const auto step_slope = static_cast<float>(factors.step_slope);
  const auto step_velocity = static_cast<float>(factors.step_velocity);
  const auto keep = static_cast<float>(factors.keep), add = static_cast<float>(factors.add);
  float* const p = parameters.data();
  const float* const g = gradient.data();
  const std::size_t count = parameters.size();
  float* const velocity = state_.data();
  for (std::size_t i = 0; i < count; ++i) {
    const float slope = g[i] + decay * p[i];
    p[i] -= eta * (step_slope * slope + step_velocity * velocity[i]);
    velocity[i] = keep * velocity[i] + add * slope;
  }
}

void FlatOptimizer::step_adam(std::span<float> parameters, std::span<const float> gradient,
                              double rate) {
  const double n = batches_ + 1;
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
  float* const recent = state_.data() + 2 * count;
  for (std::size_t i = 0; i < count; ++i) {
    const float slope = g[i] + decay * p[i];
    m[i] = b1 * m[i] + (1 - b1) * slope;
    v[i] = b2 * v[i] + (1 - b2) * slope * slope;
    recent[i] = slope;
    p[i] -= eta * m[i] / (std::sqrt(v[i]) * scale + epsilon);
  }
}

void FlatOptimizer::step_part_of_adam(std::span<float> parameters, std::span<const float> gradient,
                                      double rate, double share) {
  const AdamFactors factors = adam_factors(options_.beta1, options_.beta2, share, batches_);
  const auto b1 = static_cast<float>(factors.keep_first);
  const auto b2 = static_cast<float>(factors.keep_second);
  const auto b = static_cast<float>(factors.keep_recent);
  const auto add1 = static_cast<float>(1 - factors.keep_first);
  const auto add2 = static_cast<float>(1 - factors.keep_second);
  const auto step_mean = static_cast<float>(factors.step_mean);
  const auto step_first = static_cast<float>(factors.step_first);
  const auto eta = static_cast<float>(rate * factors.rate_factor);
  const auto scale = static_cast<float>(factors.second_scale);
  const auto epsilon = static_cast<float>(options_.epsilon);
  const auto decay = static_cast<float>(options_.weight_decay);
  const auto over_share = static_cast<float>(1 / share);
  float* const p = parameters.data();
  const float* const g = gradient.data();
  const std::size_t count = parameters.size();
  float* const m = state_.data();
  float* const v = state_.data() + count;
  float* const recent = state_.data() + 2 * count;
  for (std::size_t i = 0; i < count; ++i) {
    const float mean = g[i] * over_share + decay * p[i];
    const float direction = step_mean * mean + step_first * m[i];
    m[i] = b1 * m[i] + add1 * mean;
    recent[i] = b * recent[i] + (1 - b) * mean;
    v[i] = b2 * v[i] + add2 * recent[i] * recent[i];
    p[i] -= eta * direction / (std::sqrt(v[i]) * scale + epsilon);
  }
}

}  // namespace orrery
