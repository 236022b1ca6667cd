#include "cloud/lifetimes/lifetime.h"

#include <gtest/gtest.h>

#include <cmath>
#include <vector>

namespace orrery {
namespace {

using std::chrono::hours;
using std::chrono::minutes;

constexpr Duration kForever = kNever.time_since_epoch();
constexpr Duration kDay = hours(24);

// A third of the servers is revoked by the second hour, the others live through the day.
Lifetime two_of_six() {
  const std::vector<LifetimeSample> samples = {{hours(1), true}, {hours(2), true}, {kDay, false},
                                               {kDay, false},    {kDay, false},    {kDay, false}};
  return Lifetime::empirical(samples).with_limit(kDay);
}

double mean_of_samples_h(const Lifetime& lifetime, Duration age) {
  Random random(7);
  constexpr int kDraws = 200'000;
  double sum = 0;
  for (int i = 0; i < kDraws; ++i) sum += seconds(lifetime.sample(random, age)) / 3600;
  return sum / kDraws;
}

TEST(Lifetime, AFixedOneEndsAtItsAge) {
  const Lifetime lifetime = Lifetime::fixed(hours(3));
  Random random(1);
  EXPECT_EQ(lifetime.survival(hours(2)), 1);
  EXPECT_EQ(lifetime.survival(hours(3)), 0);
  EXPECT_EQ(lifetime.sample(random), hours(3));
  EXPECT_EQ(lifetime.mean_residual(hours(1)), hours(2));
}

TEST(Lifetime, AServerThatIsOlderThanItsEndEndsNow) {
  Random random(1);
  EXPECT_EQ(Lifetime::fixed(hours(3)).sample(random, hours(4)), hours(4));
  EXPECT_EQ(Lifetime::fixed(hours(3)).mean_residual(hours(4)), Duration{});
}

TEST(Lifetime, AnExponentialHasNoMemory) {
  const Lifetime lifetime = Lifetime::exponential(0.25);
  EXPECT_NEAR(lifetime.survival(hours(4)), std::exp(-1), 1e-12);
  EXPECT_NEAR(lifetime.hazard_per_h({}), 0.25, 1e-12);
  EXPECT_NEAR(lifetime.hazard_per_h(hours(50), minutes(10)), 0.25, 1e-12);
  EXPECT_NEAR(seconds(lifetime.mean_residual(hours(9))) / 3600, 4, 1e-6);
}

TEST(Lifetime, ARateOf0NeverRevokes) {
  const Lifetime lifetime = Lifetime::exponential(0);
  Random random(1);
  EXPECT_EQ(lifetime.sample(random), kForever);
  EXPECT_EQ(lifetime.mean_residual({}), kForever);
  EXPECT_EQ(lifetime.with_limit(kDay).sample(random), kDay);
}

TEST(Lifetime, TheHazardOfAWeibullWithInfantMortalityFallsWithAge) {
  const Lifetime lifetime = Lifetime::weibull({0.6, 102.9});
  EXPECT_GT(lifetime.hazard_per_h({}), 2 * lifetime.hazard_per_h(hours(5)));
  EXPECT_TRUE(std::isfinite(lifetime.hazard_per_h({}, minutes(1))));
}

TEST(Lifetime, TheLimitHoldsWhatIsNotRevoked) {
  const Lifetime lifetime = Lifetime::weibull({0.6, 102.9}).with_limit(kDay);
  EXPECT_GT(lifetime.survival(kDay - minutes(1)), 0.6);
  EXPECT_EQ(lifetime.survival(kDay), 0);
  Random random(3);
  int at_limit = 0;
  for (int i = 0; i < 10'000; ++i) {
    const Duration end = lifetime.sample(random);
    EXPECT_LE(end, kDay);
    at_limit += end == kDay;
  }
  EXPECT_NEAR(at_limit / 1e4, std::exp(-std::pow(24 / 102.9, 0.6)), 0.015);
}

TEST(Lifetime, TheMeanResidualLifeIsTheMeanOfSamples) {
  for (const double shape : {0.6, 1.0, 2.0}) {
    const Lifetime lifetime = Lifetime::weibull({shape, 10}).with_limit(kDay);
    for (const Duration age : {Duration{}, Duration(hours(6)), Duration(hours(20))}) {
      const double residual_h = seconds(lifetime.mean_residual(age) + age) / 3600;
      EXPECT_NEAR(residual_h, mean_of_samples_h(lifetime, age), 0.05) << shape;
    }
  }
}

TEST(Lifetime, TheMeanOfAWeibullWithoutLimitIsItsGammaFunction) {
  for (const double shape : {0.6, 1.5, 3.0}) {
    EXPECT_NEAR(seconds(Lifetime::weibull({shape, 10}).mean_residual({})) / 3600,
                10 * std::tgamma(1 + 1 / shape), 1e-5)
        << shape;
  }
}

TEST(Lifetime, AnEmpiricalOneDrawsTheAgesThatWereSeenAndTheLimit) {
  const Lifetime lifetime = two_of_six();
  EXPECT_NEAR(lifetime.survival(hours(1)), 5.0 / 6, 1e-12);
  EXPECT_NEAR(lifetime.survival(hours(23)), 4.0 / 6, 1e-12);
  Random random(5);
  int first = 0, last = 0;
  for (int i = 0; i < 6000; ++i) {
    const Duration end = lifetime.sample(random);
    first += end == hours(1);
    last += end == kDay;
    EXPECT_TRUE(end == hours(1) || end == hours(2) || end == kDay);
  }
  EXPECT_NEAR(first, 1000, 100);
  EXPECT_NEAR(last, 4000, 100);
}

TEST(Lifetime, ASurvivorOfTheFirstHourIsDrawnFromTheOthers) {
  const Lifetime lifetime = two_of_six();
  Random random(5);
  int second = 0;
  for (int i = 0; i < 5000; ++i) {
    const Duration end = lifetime.sample(random, hours(1));
    EXPECT_GT(end, hours(1));
    second += end == hours(2);
  }
  EXPECT_NEAR(second, 1000, 100);
  EXPECT_NEAR(seconds(lifetime.mean_residual(hours(1))) / 3600, (2 + 4 * 24) / 5.0 - 1, 1e-9);
}

TEST(Lifetime, TheHazardOfAnEmpiricalOneCountsItsWindow) {
  const Lifetime lifetime = two_of_six();
  EXPECT_NEAR(lifetime.hazard_per_h({}, hours(2)), std::log(6.0 / 4) / 2, 1e-12);
  EXPECT_EQ(lifetime.hazard_per_h(hours(3), hours(30)), 0) << "the limit is no revocation";
  EXPECT_TRUE(std::isinf(Lifetime::fixed(hours(1)).hazard_per_h({}, hours(1))));
}

TEST(Lifetime, OneSeedGivesTheSameLives) {
  const Lifetime lifetime = Lifetime::weibull({0.6, 102.9});
  Random first(9), second(9);
  for (int i = 0; i < 100; ++i) EXPECT_EQ(lifetime.sample(first), lifetime.sample(second));
}

}  // namespace
}  // namespace orrery
