#include "sync/target_watch.h"

#include <gtest/gtest.h>

namespace orrery {
namespace {

TEST(TargetWatch, IsReachedBetweenTheLastMeanBelowAndTheFirstAbove) {
  TargetWatch one(0.5, 1);
  one.saw(10, 0.4);
  EXPECT_FALSE(one.reached_s());
  one.saw(20, 0.6);
  EXPECT_NEAR(one.reached_s().value(), 15, 1e-9);

  TargetWatch two(0.5, 2);
  two.saw(10, 0.3);
  two.saw(20, 0.5);  // 0.4 at 15
  two.saw(30, 0.7);  // 0.6 at 25
  EXPECT_NEAR(two.reached_s().value(), 20, 1e-9);
}

TEST(TargetWatch, OneLuckyEvaluationIsNotEnough) {
  TargetWatch watch(0.9, 3);
  for (const double accuracy : {0.85, 0.95, 0.86, 0.85, 0.93}) watch.saw(1, accuracy);
  EXPECT_FALSE(watch.reached_s());
  TargetWatch hasty(0.9, 1);
  for (const double accuracy : {0.85, 0.95}) hasty.saw(1, accuracy);
  EXPECT_TRUE(hasty.reached_s());
}

TEST(TargetWatch, WhatComesAfterChangesNothing) {
  TargetWatch watch(0.5, 1);
  watch.saw(1, 0.4);
  watch.saw(2, 0.5);
  watch.saw(3, 0.1);
  watch.saw(4, 0.9);
  EXPECT_NEAR(watch.reached_s().value(), 2, 1e-9);
}

TEST(TargetWatch, AboveFromTheFirstOn) {
  TargetWatch watch(0.5, 2);
  watch.saw(3, 0.6);
  EXPECT_FALSE(watch.reached_s());
  watch.saw(5, 0.7);
  EXPECT_NEAR(watch.reached_s().value(), 4, 1e-9);
}

TEST(TargetWatch, WithoutATargetNothingIsReached) {
  TargetWatch watch(0, 1);
  watch.saw(1, 1);
  EXPECT_FALSE(watch.reached_s());
}

// Same rise, different luck: the more evaluations, the less the time depends on it.
TEST(TargetWatch, TheMeanOfManyTellsTheTimeBetter) {
  const auto spread = [](int over) {
    double least = 1e9, most = 0;
    for (unsigned luck = 1; luck <= 40; ++luck) {
      TargetWatch watch(0.5, over);
      unsigned state = luck * 2654435761u;
      for (int i = 1; i < 400 && !watch.reached_s(); ++i) {
        state = state * 1664525u + 1013904223u;
        const double noise = static_cast<double>(state >> 8) / (1 << 24) - 0.5;
        watch.saw(i, i / 400.0 + 0.1 * noise);
      }
      least = std::min(least, watch.reached_s().value());
      most = std::max(most, watch.reached_s().value());
    }
    return most - least;
  };
  EXPECT_LT(spread(9), 0.6 * spread(1));
}

}  // namespace
}  // namespace orrery
