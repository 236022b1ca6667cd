#include "training/sync/partial_step.h"

#include <gtest/gtest.h>

#include <cmath>
#include <vector>

namespace orrery {
namespace {

struct Momentum {
  double position = 2, velocity = 0.7;
  // The sum over the part's samples of a gradient that is `mean` for each of them.
  void update(double momentum, double share, double mean) {
    const MomentumFactors factors = momentum_factors(momentum, share);
    const double slope = share * mean;
    position -= factors.step_slope * slope + factors.step_velocity * velocity;
    velocity = factors.keep * velocity + factors.add * slope;
  }
};

struct Adam {
  double position = 2, first = 0, second = 0, recent = 0, batches = 0;
  void update(double share, double mean) {
    const AdamFactors factors = adam_factors(0.9, 0.999, share, batches);
    const double direction = factors.step_mean * mean + factors.step_first * first;
    first = factors.keep_first * first + (1 - factors.keep_first) * mean;
    recent = factors.keep_recent * recent + (1 - factors.keep_recent) * mean;
    second = factors.keep_second * second + (1 - factors.keep_second) * recent * recent;
    position -=
        0.01 * factors.rate_factor * direction / (std::sqrt(second) * factors.second_scale + 1e-8);
    batches += share;
  }
};

const std::vector<std::vector<double>> kDivisions = {
    {0.5, 0.5}, {0.125, 0.125, 0.125, 0.125, 0.125, 0.125, 0.125, 0.125}, {0.7, 0.05, 0.25}};

TEST(PartialStep, AWholeUpdateIsTheOrdinaryStep) {
  const MomentumFactors momentum = momentum_factors(0.9, 1);
  EXPECT_NEAR(momentum.step_slope, 1, 1e-12);
  EXPECT_NEAR(momentum.step_velocity, 0.9, 1e-12);
  EXPECT_NEAR(momentum.keep, 0.9, 1e-12);
  EXPECT_NEAR(momentum.add, 1, 1e-12);
  const AdamFactors adam = adam_factors(0.9, 0.999, 1, 4);
  EXPECT_NEAR(adam.step_mean, 0.1, 1e-12);
  EXPECT_NEAR(adam.step_first, 0.9, 1e-12);
  EXPECT_NEAR(adam.rate_factor, 1 / (1 - std::pow(0.9, 5)), 1e-12);
  EXPECT_EQ(adam.keep_recent, 0);
  EXPECT_NEAR(adam.second_scale, 1 / std::sqrt(1 - std::pow(0.999, 5)), 1e-9);
}

TEST(PartialStep, PartsOfABatchMoveAsFarAsTheWhole) {
  for (const auto& division : kDivisions) {
    Momentum whole, parts;
    Adam whole_adam, parts_adam;
    for (const double mean : {1.0, -3.0, 0.5, 0.5}) {
      whole.update(0.9, 1, mean);
      for (const double share : division) parts.update(0.9, share, mean);
      EXPECT_NEAR(parts.position, whole.position, 1e-9);
      EXPECT_NEAR(parts.velocity, whole.velocity, 1e-9);
    }
    for (int batch = 0; batch < 5; ++batch) {
      whole_adam.update(1, 0.3);
      for (const double share : division) parts_adam.update(share, 0.3);
      EXPECT_NEAR(parts_adam.position, whole_adam.position, 1e-9);
      EXPECT_NEAR(parts_adam.first, whole_adam.first, 1e-9);
      EXPECT_NEAR(parts_adam.second, whole_adam.second, 1e-9);
    }
  }
}

// One sample's gradient moves the parameters by rate * weight / (1 - momentum) in the end, whether
// its update was large or small, and whatever comes after it.
TEST(PartialStep, ASampleMovesParametersEquallyFarInTheEnd) {
  for (const double own : {0.01, 0.125, 1.0, 1.3}) {
    for (const double later : {0.02, 0.3, 1.0}) {
      Momentum run{.position = 0, .velocity = 0};
      run.update(0.9, own, 1 / own);  // a slope of 1
      for (double passed = 0; passed < 400; passed += later) run.update(0.9, later, 0);
      EXPECT_NEAR(run.position, -1 / (1 - 0.9), 1e-6) << own << ", " << later;
    }
  }
}

TEST(PartialStep, MomentumOfNoneIsAPlainStep) {
  const MomentumFactors factors = momentum_factors(0, 0.25);
  EXPECT_EQ(factors.step_slope, 1);
  EXPECT_EQ(factors.step_velocity, 0);
  const AdamFactors adam = adam_factors(0, 0.9, 0.25, 3);
  EXPECT_EQ(adam.step_mean, 0.25);
  EXPECT_EQ(adam.rate_factor, 1);
}

}  // namespace
}  // namespace orrery
