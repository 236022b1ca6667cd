#include "training/libtorch/local_optimizer.h"

#include <gtest/gtest.h>

#include <cmath>
#include <vector>

#include "training/libtorch/learner.h"
#include "training/sync/partial_step.h"

namespace orrery {
namespace {

// The steps written out, float by float: what a shard does with the same gradient.
class Reference {
 public:
  Reference(const LocalOptimizerOptions& options, std::span<const float> parameters)
      : options_(options),
        p(parameters.begin(), parameters.end()),
        m_(parameters.size()),
        v_(parameters.size()),
        recent_(parameters.size()) {}

  void step(std::span<const float> g, double rate, double share) {
    if (options_.kind == "adam") {
      share == 1 ? whole_adam(g, rate) : part_of_adam(g, rate, share);
    } else {
      const MomentumFactors factors = momentum_factors(options_.momentum, share);
      const auto decay = static_cast<float>(share * options_.weight_decay);
      for (std::size_t i = 0; i < p.size(); ++i) {
        const float slope = g[i] + decay * p[i];
        float step = static_cast<float>(factors.step_slope) * slope;
        if (options_.momentum > 0) step += static_cast<float>(factors.step_velocity) * m_[i];
        m_[i] = static_cast<float>(factors.keep) * m_[i] + static_cast<float>(factors.add) * slope;
        if (share == 1) step = m_[i];
        p[i] -= static_cast<float>(rate) * step;
      }
    }
    batches_ += share;
  }

 private:
  void whole_adam(std::span<const float> g, double rate) {
    const auto decay = static_cast<float>(options_.weight_decay);
    const auto b1 = static_cast<float>(options_.beta1), b2 = static_cast<float>(options_.beta2);
    const auto eta = static_cast<float>(rate / (1 - std::pow(options_.beta1, batches_ + 1)));
    const auto scale =
        static_cast<float>(1 / std::sqrt(1 - std::pow(options_.beta2, batches_ + 1)));
    for (std::size_t i = 0; i < p.size(); ++i) {
      const float slope = g[i] + decay * p[i];
      m_[i] = b1 * m_[i] + (1 - b1) * slope;
      v_[i] = b2 * v_[i] + (1 - b2) * slope * slope;
      recent_[i] = slope;
      p[i] -= eta * m_[i] / (std::sqrt(v_[i]) * scale + static_cast<float>(options_.epsilon));
    }
  }
  void part_of_adam(std::span<const float> g, double rate, double share) {
    const AdamFactors factors = adam_factors(options_.beta1, options_.beta2, share, batches_);
    const auto f = [](double value) { return static_cast<float>(value); };
    const float decay = f(options_.weight_decay), keep = f(factors.keep_recent);
    const float eta = f(rate * factors.rate_factor), scale = f(factors.second_scale);
    for (std::size_t i = 0; i < p.size(); ++i) {
      const float mean = g[i] * f(1 / share) + decay * p[i];
      const float direction = f(factors.step_mean) * mean + f(factors.step_first) * m_[i];
      m_[i] = f(factors.keep_first) * m_[i] + f(1 - factors.keep_first) * mean;
      recent_[i] = keep * recent_[i] + (1 - keep) * mean;
      v_[i] = f(factors.keep_second) * v_[i] + f(1 - factors.keep_second) * recent_[i] * recent_[i];
      p[i] -= eta * direction / (std::sqrt(v_[i]) * scale + f(options_.epsilon));
    }
  }

  LocalOptimizerOptions options_;
  double batches_ = 0;

 public:
  std::vector<float> p;

 private:
  std::vector<float> m_, v_, recent_;
};

class EveryOptimizer : public testing::TestWithParam<LocalOptimizerOptions> {};

TEST_P(EveryOptimizer, StepsAsShardsDoToTheBit) {
  const auto learner = make_learner({}).value();
  const auto optimizer = make_local_optimizer(*learner, GetParam()).value();
  Reference reference(GetParam(), learner->parameters());
  const std::vector<double> shares = {1, 1, 0.125, 0.7, 1, 0.25};
  for (int step = 0; step < 6; ++step) {
    const double share = shares[static_cast<std::size_t>(step)];
    ASSERT_TRUE(learner->compute({.first = step * 32, .count = 32}, 1, {}).ok());
    reference.step(learner->gradient(), 0.05, share);
    ASSERT_TRUE(optimizer->step(0.05, share).ok());
    const auto values = learner->parameters();
    for (std::size_t i = 0; i < values.size(); ++i) {
      ASSERT_EQ(values[i], reference.p[i]) << "step " << step << ", parameter " << i;
    }
  }
}

TEST_P(EveryOptimizer, GoesOnFromItsState) {
  const auto one = make_learner({}).value(), other = make_learner({}).value();
  const auto first = make_local_optimizer(*one, GetParam()).value();
  const auto second = make_local_optimizer(*other, GetParam()).value();
  const auto step = [](Learner& learner, LocalOptimizer& optimizer, int number) {
    ASSERT_TRUE(learner.compute({.first = number * 8, .count = 8}, 1, {}).ok());
    ASSERT_TRUE(optimizer.step(0.05).ok());
  };
  step(*one, *first, 0);
  ASSERT_TRUE(other->set_parameters(one->parameters()).ok());
  ASSERT_TRUE(second->restore(first->state(), first->batches()).ok());
  step(*one, *first, 1);
  step(*other, *second, 1);
  EXPECT_TRUE(
      std::equal(one->parameters().begin(), one->parameters().end(), other->parameters().begin()));
  EXPECT_FALSE(second->restore(std::vector<float>(5), 1).ok());
}

INSTANTIATE_TEST_SUITE_P(
    Kinds, EveryOptimizer,
    testing::Values(LocalOptimizerOptions{}, LocalOptimizerOptions{.weight_decay = 1e-3},
                    LocalOptimizerOptions{.momentum = 0.9, .weight_decay = 1e-3},
                    LocalOptimizerOptions{.kind = "adam", .weight_decay = 1e-3},
                    LocalOptimizerOptions{.kind = "adam"}),
    [](const auto& found) { return found.param.kind + std::to_string(found.index); });

TEST(LocalOptimizer, SaysWhatThereIs) {
  const auto learner = make_learner({}).value();
  EXPECT_NE(make_local_optimizer(*learner, {.kind = "sdg"}).error().message.find("adam"),
            std::string::npos);
}

}  // namespace
}  // namespace orrery
