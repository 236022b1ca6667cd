#include "training/mode_selection/scoring/loss_guard.h"

#include <gtest/gtest.h>

#include <cmath>

#include "base/random.h"

namespace orrery {
namespace {

void see(LossGuard& guard, Random& random, double loss, int gradients, double noise = 0.15) {
  for (int i = 0; i < gradients; ++i) {
    guard.add({.samples = 32, .loss = loss * (1 + noise * random.normal())});
  }
}

TEST(LossGuard, NoiseIsNoRise) {
  for (std::uint64_t seed = 1; seed <= 20; ++seed) {
    LossGuard guard;
    Random random(seed);
    see(guard, random, 1, 100);
    guard.switched();
    for (int i = 0; i < 2000; ++i) {
      see(guard, random, 1, 1);
      ASSERT_FALSE(guard.rose()) << "seed " << seed << " gradient " << i;
    }
  }
}

TEST(LossGuard, SeesARiseSoon) {
  LossGuard guard;
  Random random(3);
  see(guard, random, 1, 200);
  guard.switched();
  see(guard, random, 0.9, 200);
  EXPECT_FALSE(guard.rose());
  const LossGuardOptions options;
  int needed = 0;
  while (!guard.rose() && needed < 500) {
    see(guard, random, 1.4, 1);
    ++needed;
  }
  EXPECT_GT(needed, options.gradients_risen);
  EXPECT_LT(needed, options.gradients_risen + 32);
}

// cnn on MNIST under SSGD with no worker slow: from 0.13 to 0.31 and back within 64 gradients.
TEST(LossGuard, AShortRiseIsNone) {
  LossGuard guard;
  Random random(5);
  see(guard, random, 0.13, 400);
  for (int i = 0; i < 60; ++i) {
    see(guard, random, 0.31, 1);
    ASSERT_FALSE(guard.rose()) << i;
  }
  for (int i = 0; i < 400; ++i) {
    see(guard, random, 0.13, 1);
    ASSERT_FALSE(guard.rose()) << i;
  }
}

TEST(LossGuard, AManifoldRiseIsSeenAtOnce) {
  LossGuard guard;
  Random random(6);
  see(guard, random, 0.5, 400);
  see(guard, random, 10, 16);
  EXPECT_TRUE(guard.rose());
}

TEST(LossGuard, ARiseBeforeTheSwitchIsNotTheNewModesFault) {
  LossGuard guard;
  Random random(4);
  see(guard, random, 1, 300, 0.05);
  see(guard, random, 1.5, 100, 0.05);
  guard.switched();
  see(guard, random, 1.5, 300, 0.05);
  EXPECT_FALSE(guard.rose());
}

TEST(LossGuard, WhatIsNotFiniteIsARise) {
  LossGuard guard;
  guard.switched();
  guard.add({.samples = 32, .loss = std::nan("")});
  EXPECT_TRUE(guard.rose());
  guard.switched();
  EXPECT_FALSE(guard.rose());
}

TEST(LossGuard, KeepsAwayTwiceAsLongEachTime) {
  LossGuard guard({.away_first = std::chrono::seconds(10)});
  const Mode mode{.x = 7};
  const auto at = [](double second) { return time_from_seconds(second); };
  guard.keep_away(mode, 0.14, at(0));
  EXPECT_TRUE(guard.keeps_away(mode, 0.14, at(9)));
  EXPECT_FALSE(guard.keeps_away(mode, 0.14, at(10)));
  guard.keep_away(mode, 0.14, at(20));
  EXPECT_TRUE(guard.keeps_away(mode, 0.14, at(39)));
  EXPECT_FALSE(guard.keeps_away(mode, 0.14, at(40)));
}

TEST(LossGuard, KeepsAwayFromWhatIsAsStale) {
  LossGuard guard;
  guard.keep_away({.x = 4}, 1, Time{});
  EXPECT_TRUE(guard.keeps_away({.x = 1}, 7, Time{}));
  EXPECT_FALSE(guard.keeps_away({.x = 7}, 0.14, Time{}));
  LossGuard other;
  other.keep_away({.shares = {{WorkerId(0), 0.5}}}, 0, Time{});
  EXPECT_FALSE(other.keeps_away({.x = 7}, 0.14, Time{})) << "staleness was not to blame";
}

}  // namespace
}  // namespace orrery
