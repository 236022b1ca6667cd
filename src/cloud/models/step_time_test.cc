#include "cloud/models/step_time.h"

#include <gtest/gtest.h>

#include <cmath>
#include <vector>

namespace orrery {
namespace {

TEST(Polynomial, AQuadraticIsFoundInItsPoints) {
  std::vector<FitPoint> points;
  for (double x = 0.6; x < 23; x += 1.7) points.push_back({x, 0.1 + 0.09 * x - 0.0016 * x * x});
  const auto fit = fit_polynomial(points, 2);
  ASSERT_TRUE(fit.ok());
  EXPECT_NEAR(fit.value().coefficients[0], 0.1, 1e-11);
  EXPECT_NEAR(fit.value().coefficients[2], -0.0016, 1e-12);
  EXPECT_NEAR(fit.value().at(5), 0.1 + 0.45 - 0.04, 1e-11);
}

TEST(Polynomial, TooFewPlacesAreRefused) {
  const std::vector<FitPoint> points = {{1, 2}, {1, 3}, {1, 4}};
  EXPECT_FALSE(fit_polynomial(points, 1).ok());
  EXPECT_FALSE(fit_polynomial({}, 1).ok());
}

TEST(PowerLaw, IsFoundInItsPoints) {
  std::vector<FitPoint> points;
  for (double x = 0.6; x < 23; x *= 1.5) points.push_back({x, 0.17 * std::pow(x, 0.69)});
  const auto fit = fit_power_law(points);
  ASSERT_TRUE(fit.ok());
  EXPECT_NEAR(fit.value().factor, 0.17, 1e-12);
  EXPECT_NEAR(fit.value().exponent, 0.69, 1e-12);
}

TEST(StepTime, AGpuThatWasNotMeasuredLiesOnTheLaw) {
  std::vector<StepTimeSample> samples;
  for (const double tflops : {4.113, 9.526}) {
    for (double gflop = 0.6; gflop < 23; gflop *= 1.5) {
      StepTimeSample sample;
      sample.tflops = tflops, sample.gflop = gflop;
      sample.step_s = 0.7 * std::pow(gflop, 0.65) / tflops;
      samples.push_back(sample);
    }
  }
  const auto fit = fit_step_time(samples);
  ASSERT_TRUE(fit.ok());
  EXPECT_NEAR(fit.value().step_s(2, 14.13), 0.7 * std::pow(2, 0.65) / 14.13, 1e-9);
}

TEST(StepTime, OneGpuSaysNothingOfOthers) {
  std::vector<StepTimeSample> samples(5);
  for (std::size_t i = 0; i < samples.size(); ++i) {
    samples[i].tflops = 4, samples[i].gflop = 1 + static_cast<double>(i), samples[i].step_s = 1;
  }
  EXPECT_FALSE(fit_step_time(samples).ok());
}

TEST(SupportVectors, FollowACurveWithinTheirTube) {
  std::vector<FitPoint> points;
  for (double x = 0; x <= 1; x += 0.05) points.push_back({x, 0.1 + x - 0.5 * x * x});
  for (const auto kernel : {SupportVectors::Kernel::Radial, SupportVectors::Kernel::Square}) {
    const auto fit = SupportVectors::fit(points, {.kernel = kernel});
    ASSERT_TRUE(fit.ok());
    for (const FitPoint& point : points) EXPECT_NEAR(fit.value().at(point.x), point.y, 0.012);
  }
  EXPECT_FALSE(SupportVectors::fit({}, {}).ok());
}

}  // namespace
}  // namespace orrery
