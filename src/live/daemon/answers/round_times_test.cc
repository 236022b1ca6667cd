#include "live/daemon/answers/round_times.h"

#include <gtest/gtest.h>

namespace orrery {
namespace {

TEST(RoundTimes, NoRoundTookNoTime) {
  EXPECT_EQ(RoundTimes().quantile(0.99), 0);
  EXPECT_EQ(RoundTimes().max(), 0);
}

TEST(RoundTimes, QuantilesAreAtMostAnEighthTooHigh) {
  RoundTimes times;
  for (int i = 1; i <= 1000; ++i) times.add(i * 1e-4);
  EXPECT_EQ(times.count(), 1000);
  EXPECT_NEAR(times.sum(), 50.05, 1e-9);
  EXPECT_EQ(times.max(), 0.1);
  for (const double part : {0.1, 0.5, 0.9, 0.99}) {
    EXPECT_GE(times.quantile(part), part * 0.1 * 0.999);
    EXPECT_LE(times.quantile(part), part * 0.1 * 1.125);
  }
  EXPECT_EQ(times.quantile(1), 0.1);
}

TEST(RoundTimes, WhatIsBeyondTheTableIsInItsLastPlace) {
  RoundTimes times;
  times.add(0);
  times.add(1e9);
  EXPECT_EQ(times.max(), 1e9);
  EXPECT_LE(times.quantile(0.5), 1e-6);
  EXPECT_GT(times.quantile(1), 3600);
}

}  // namespace
}  // namespace orrery
