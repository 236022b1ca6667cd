#include "training/mode_selection/scoring/loss_window.h"

#include <gtest/gtest.h>

#include <cmath>

#include "base/random.h"
#include "training/mode_selection/stragglers/pace_memory.h"

namespace orrery {
namespace {

IterationSample gradient(int number, double loss, int samples = 32, int staleness = 0) {
  return {.at = time_from_seconds(0.1 * number),
          .samples = samples,
          .staleness = staleness,
          .loss = loss};
}

TEST(LossWindows, FindTheSlopeUnderTheNoise) {
  LossWindows windows({.gradients_least = 200, .seconds_least = 1});
  windows.begin(0.1, 0);
  Random random(1);
  std::optional<LossWindow> window;
  for (int i = 0; !window; ++i) {
    // From 2, by 1e-4 a sample.
    window = windows.add(gradient(i, 2 - 1e-4 * 32 * i + 0.05 * random.normal(), 32, i % 3));
  }
  EXPECT_EQ(window->gradients, 200);
  EXPECT_NEAR(window->loss, 2, 0.03);
  EXPECT_NEAR(window->drop, 0.5e-4, 4 * window->drop_noise);
  EXPECT_LT(window->drop_noise, 0.05e-4);
  EXPECT_NEAR(window->staleness, 1, 0.02);
  EXPECT_NEAR(window->seconds_long(), 19.9, 1e-6);
}

TEST(LossWindows, AnotherModeBeginsAnotherWindowAfterItHasSettled) {
  LossWindows windows({.gradients_least = 10, .seconds_least = 0.5});
  windows.begin(0.1, 0);
  for (int i = 0; i < 9; ++i) EXPECT_FALSE(windows.add(gradient(i, 1)));
  EXPECT_FALSE(windows.begin(0.1, 5)) << "too short to be of use";
  int needed = 0;
  while (!windows.add(gradient(10 + needed, 1))) ++needed;
  EXPECT_EQ(needed, 14);
}

TEST(LossWindows, WhatWasNotUsedDoesNotCount) {
  LossWindows windows({.gradients_least = 1, .seconds_least = 0});
  windows.begin(0.1, 0);
  EXPECT_FALSE(windows.add(gradient(0, 1, 32, -1)));
  EXPECT_FALSE(windows.add(gradient(0, std::nan(""))));
  EXPECT_FALSE(windows.add(gradient(0, 1, 0)));
  EXPECT_TRUE(windows.add(gradient(0, 1)));
}

ScoredMode scored(int x, double time_s) {
  return {.mode = {.x = x}, .pace = {.interval_s = 1, .samples_per_s = 100}, .time_s = time_s};
}

TEST(PaceMemory, CorrectsWhatAModeReallyDid) {
  PaceMemory memory;
  for (int i = 0; i < 50; ++i) memory.add({.x = 1}, 60, 100, 1);
  ScoredMode asgd = scored(1, 3);
  memory.correct(asgd, {.x = 1});
  EXPECT_NEAR(asgd.time_s, 5, 0.05);
  EXPECT_NEAR(asgd.pace.samples_per_s, 60, 1);
}

TEST(PaceMemory, TheUnknownIsTakenToBeOffLikeThePresent) {
  PaceMemory memory;
  for (int i = 0; i < 50; ++i) memory.add({}, 80, 100, 1);
  EXPECT_NEAR(memory.factor({.x = 7}, {}), 0.8, 0.01);
  EXPECT_NEAR(memory.factor({}, {}), 0.8, 0.01);
}

TEST(PaceMemory, ABadExperienceFadesSoThatTheModeIsTriedAgain) {
  PaceMemory memory;
  for (int i = 0; i < 50; ++i) memory.add({.x = 1}, 50, 100, 1);
  for (int i = 0; i < 3; ++i) memory.add({}, 100, 100, 1);
  EXPECT_LT(memory.factor({.x = 1}, {}), 0.55);
  for (int i = 0; i < 600; ++i) memory.add({}, 100, 100, 1);
  EXPECT_GT(memory.factor({.x = 1}, {}), 0.95);
}

}  // namespace
}  // namespace orrery
