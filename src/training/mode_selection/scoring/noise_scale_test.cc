#include "training/mode_selection/scoring/noise_scale.h"

#include <gtest/gtest.h>

#include <cmath>
#include <vector>

#include "base/random.h"

namespace orrery {
namespace {

// Gradients of `batches` samples each around a true gradient, and the update they make.
struct MadeUpdate {
  std::vector<IterationSample> iterations;
  UpdateSample update;
};

MadeUpdate draw(Random& random, const std::vector<int>& batches, double gradient_norm2,
                double variance) {
  constexpr int kDimensions = 50;
  const double truth = std::sqrt(gradient_norm2 / kDimensions);
  MadeUpdate made;
  std::vector<double> mean(kDimensions);
  int samples = 0;
  for (const int batch : batches) {
    double norm2 = 0;
    for (double& component : mean) {
      const double noise = std::sqrt(variance / kDimensions / batch);
      const double g = truth + noise * random.normal();
      norm2 += g * g;
      component += batch * g;
    }
    samples += batch;
    made.update.fresh_norm2_sum += norm2;
    made.iterations.push_back({.samples = batch, .staleness = 0, .norm2 = norm2});
  }
  for (double& component : mean) {
    component /= samples;
    made.update.fresh_mean_norm2 += component * component;
  }
  made.update.fresh = static_cast<int>(batches.size());
  made.update.fresh_samples = samples;
  return made;
}

NoiseScale measured(const std::vector<int>& batches, double gradient_norm2, double variance,
                    bool report_iterations) {
  NoiseScale scale(0.999);
  Random random(7);
  for (int i = 0; i < 3000; ++i) {
    const MadeUpdate made = draw(random, batches, gradient_norm2, variance);
    if (report_iterations) {
      for (const IterationSample& sample : made.iterations) scale.add(sample);
    }
    scale.add(made.update);
  }
  return scale;
}

TEST(NoiseScale, FindsTheCovarianceAndTheGradientItWasDrawnFrom) {
  const NoiseScale scale = measured({32, 32, 32, 32, 32, 32, 32, 32}, 5.6455, 768.07, true);
  EXPECT_NEAR(scale.variance(), 768.07, 10);
  EXPECT_NEAR(scale.gradient_norm2(), 5.6455, 0.2);
  ASSERT_TRUE(scale.phi());
  EXPECT_NEAR(*scale.phi(), 136.05, 6);  // the row of specs/star.md 5.2
}

TEST(NoiseScale, UnequalBatchesGiveTheSameAnswer) {
  const std::vector<int> batches = {120, 60, 40, 20, 10, 6};
  const NoiseScale right = measured(batches, 4, 400, true);
  EXPECT_NEAR(*right.phi(), 100, 5);
  // Taken for equal they would be too noisy by far: knowing the batches is what makes it right.
  const NoiseScale taken_for_equal = measured(batches, 4, 400, false);
  EXPECT_GT(*taken_for_equal.phi(), 150);
}

TEST(NoiseScale, AgreesWithTheTwoBatchFormula) {
  NoiseScale scale;
  const double b = 32, x = 4, s = 9, g = 3;
  scale.add({.fresh = 4, .fresh_samples = 128, .fresh_norm2_sum = x * s, .fresh_mean_norm2 = g});
  EXPECT_NEAR(scale.gradient_norm2(), (x * b * g - b * s) / (x * b - b), 1e-9);
  EXPECT_NEAR(scale.variance(), (s - g) / (1 / b - 1 / (x * b)), 1e-9);
}

TEST(NoiseScale, OneFreshGradientMeasuresNothing) {
  NoiseScale scale;
  scale.add(UpdateSample{
      .terms = 8, .fresh = 1, .fresh_samples = 32, .fresh_norm2_sum = 4, .fresh_mean_norm2 = 4});
  EXPECT_FALSE(scale.phi());
  scale.add(UpdateSample{.terms = 8, .fresh = 4, .fresh_samples = 128, .fresh_norm2_sum = 4});
  EXPECT_EQ(scale.measured(), 0);
}

TEST(NoiseScale, NoAnswerWhileTheGradientDrownsInNoise) {
  NoiseScale scale;
  // |mean|^2 below what noise alone would make: the estimate of |G|^2 is negative.
  scale.add(
      UpdateSample{.fresh = 2, .fresh_samples = 64, .fresh_norm2_sum = 20, .fresh_mean_norm2 = 1});
  EXPECT_FALSE(scale.phi());
}

}  // namespace
}  // namespace orrery
