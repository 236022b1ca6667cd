#include "training/sync/target_watch.h"

#include <gtest/gtest.h>

#include <cmath>

namespace orrery {
namespace {

TEST(TargetWatch, IsReachedBetweenTheLastMeanBelowAndTheFirstAbove) {
  TargetWatch one(0.5, 1);
  one.add(10, 0.4);
  EXPECT_FALSE(one.reached_s());
  one.add(20, 0.6);
  EXPECT_NEAR(one.reached_s().value(), 15, 1e-9);

  TargetWatch two(0.5, 2);
  two.add(10, 0.3);
  two.add(20, 0.5);  // 0.4 at 15
  two.add(30, 0.7);  // 0.6 at 25
  EXPECT_NEAR(two.reached_s().value(), 20, 1e-9);
}

TEST(TargetWatch, OneLuckyEvaluationIsNotEnough) {
  TargetWatch watch(0.9, 3);
  for (const double accuracy : {0.85, 0.95, 0.86, 0.85, 0.93}) watch.add(1, accuracy);
  EXPECT_FALSE(watch.reached_s());
  TargetWatch hasty(0.9, 1);
  for (const double accuracy : {0.85, 0.95}) hasty.add(1, accuracy);
  EXPECT_TRUE(hasty.reached_s());
}

TEST(TargetWatch, WhatComesAfterChangesNothing) {
  TargetWatch watch(0.5, 1);
  watch.add(1, 0.4);
  watch.add(2, 0.5);
  watch.add(3, 0.1);
  watch.add(4, 0.9);
  EXPECT_NEAR(watch.reached_s().value(), 2, 1e-9);
}

TEST(TargetWatch, AboveFromTheFirstOn) {
  TargetWatch watch(0.5, 2);
  watch.add(3, 0.6);
  EXPECT_FALSE(watch.reached_s());
  watch.add(5, 0.7);
  EXPECT_NEAR(watch.reached_s().value(), 4, 1e-9);
}

TEST(TargetWatch, WithoutATargetNothingIsReached) {
  TargetWatch watch(0, 1);
  watch.add(1, 1);
  EXPECT_FALSE(watch.reached_s());
}

// A single high evaluation comes too early, the sooner the more often one looks. So the time of
// single ones is that of the luck, and the mean of many crosses where the rise itself does.
TEST(TargetWatch, TheMeanOfManyIsNotEarly) {
  constexpr double kCrosses = 200;
  const auto early = [](int over) {
    double sum = 0;
    constexpr unsigned kLucks = 40;
    for (unsigned luck = 1; luck <= kLucks; ++luck) {
      TargetWatch watch(0.5, over);
      unsigned state = luck * 2654435761u;
      for (int i = 1; i < 2 * kCrosses && !watch.reached_s(); ++i) {
        state = state * 1664525u + 1013904223u;
        const double noise = static_cast<double>(state >> 8) / (1 << 24) - 0.5;
        watch.add(i, 0.5 * i / kCrosses + 0.1 * noise);
      }
      sum += kCrosses - watch.reached_s().value();
    }
    return sum / kLucks;
  };
  EXPECT_GT(early(1), 10);
  EXPECT_LT(std::abs(early(9)), 2);
}

}  // namespace
}  // namespace orrery
