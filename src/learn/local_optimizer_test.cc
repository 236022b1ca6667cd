#include "learn/local_optimizer.h"

#include <gtest/gtest.h>

#include <cmath>
#include <vector>

#include "learn/learner.h"

namespace orrery {
namespace {

// The steps written out, float by float: what a shard does with the same gradient.
class Reference {
 public:
  Reference(const LocalOptimizerOptions& options, std::span<const float> parameters)
      : options_(options),
        p(parameters.begin(), parameters.end()),
        m_(parameters.size()),
        v_(parameters.size()) {}

  void step(std::span<const float> g, double rate) {
    ++steps_;
    const auto decay = static_cast<float>(options_.weight_decay);
    const auto momentum = static_cast<float>(options_.momentum);
    const auto b1 = static_cast<float>(options_.beta1), b2 = static_cast<float>(options_.beta2);
    const auto adam_eta = static_cast<float>(rate / (1 - std::pow(options_.beta1, steps_)));
    const auto scale = static_cast<float>(1 / std::sqrt(1 - std::pow(options_.beta2, steps_)));
    const auto epsilon = static_cast<float>(options_.epsilon);
    for (std::size_t i = 0; i < p.size(); ++i) {
      const float slope = g[i] + decay * p[i];
      if (options_.kind == "adam") {
        m_[i] = b1 * m_[i] + (1 - b1) * slope;
        v_[i] = b2 * v_[i] + (1 - b2) * slope * slope;
        p[i] -= adam_eta * m_[i] / (std::sqrt(v_[i]) * scale + epsilon);
      } else {
        m_[i] = momentum * m_[i] + slope;
        p[i] -= static_cast<float>(rate) * m_[i];
      }
    }
  }

 private:
  LocalOptimizerOptions options_;
  double steps_ = 0;

 public:
  std::vector<float> p;

 private:
  std::vector<float> m_, v_;
};

class EveryOptimizer : public testing::TestWithParam<LocalOptimizerOptions> {};

TEST_P(EveryOptimizer, StepsAsShardsDoToTheBit) {
  const auto learner = make_learner({}).value();
  const auto optimizer = make_local_optimizer(*learner, GetParam()).value();
  Reference reference(GetParam(), learner->parameters());
  for (int step = 0; step < 5; ++step) {
    ASSERT_TRUE(learner->compute({.first = step * 32, .count = 32}, 1, {}).ok());
    reference.step(learner->gradient(), 0.05);
    ASSERT_TRUE(optimizer->step(0.05).ok());
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
  ASSERT_TRUE(second->restore(first->state(), first->steps()).ok());
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
