#include "base/bootstrap.h"

#include <gtest/gtest.h>

#include <cmath>

#include "base/random.h"

namespace orrery {
namespace {

std::vector<double> normals(std::size_t count, std::uint64_t seed) {
  Random random(seed);
  std::vector<double> values(count);
  for (double& value : values) value = 10 + random.normal();
  return values;
}

TEST(Bootstrap, TheIntervalOfAMeanIsThatOfTheNormalLaw) {
  const std::vector<double> values = normals(400, 1);
  double mean = 0;
  for (const double value : values) mean += value / 400;
  const ConfidenceInterval interval = Bootstrap(400, 7).of_mean(values);
  const double half = 1.96 / std::sqrt(400.0);
  EXPECT_NEAR(interval.low, mean - half, 0.015);
  EXPECT_NEAR(interval.high, mean + half, 0.015);
}

TEST(Bootstrap, NineteenOfTwentyIntervalsHoldTheMean) {
  const Bootstrap bootstrap(40, 3);
  int holds = 0;
  for (std::uint64_t seed = 1; seed <= 300; ++seed) {
    const ConfidenceInterval interval = bootstrap.of_mean(normals(40, seed));
    holds += interval.low <= 10 && 10 <= interval.high;
  }
  EXPECT_GE(holds, 270);
  EXPECT_LE(holds, 295);
}

TEST(Bootstrap, EqualValuesHaveNoSpread) {
  const std::vector<double> values(5, 3.5);
  const ConfidenceInterval interval = Bootstrap(5, 1).of_mean(values);
  EXPECT_DOUBLE_EQ(interval.low, 3.5);
  EXPECT_DOUBLE_EQ(interval.high, 3.5);
}

TEST(Bootstrap, ARatioDrawsBothTogether) {
  const std::vector<double> below = {1, 10, 100, 1000};
  std::vector<double> above = below;
  for (double& value : above) value *= 2;
  const ConfidenceInterval interval = Bootstrap(4, 1).of_ratio(above, below);
  EXPECT_DOUBLE_EQ(interval.low, 2);
  EXPECT_DOUBLE_EQ(interval.high, 2);
}

TEST(Bootstrap, TheSeedDecides) {
  const std::vector<double> values = normals(10, 1);
  EXPECT_EQ(Bootstrap(10, 1).of_mean(values).low, Bootstrap(10, 1).of_mean(values).low);
  EXPECT_NE(Bootstrap(10, 1).of_mean(values).low, Bootstrap(10, 2).of_mean(values).low);
}

}  // namespace
}  // namespace orrery
