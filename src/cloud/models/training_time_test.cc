#include "cloud/models/training_time.h"

#include <gtest/gtest.h>

#include <cmath>

namespace orrery {
namespace {

TEST(TrainingTime, IsStepsCheckpointsAndReplacements) {
  EXPECT_NEAR(training_time_s({.steps = 64'000,
                               .steps_per_s = 16,
                               .checkpoint_interval = 10'000,
                               .checkpoint_s = 4,
                               .replacements = 0.5,
                               .provision_s = 70,
                               .set_up_s = 30}),
              4000 + 7 * 4 + 50, 1e-9);
  EXPECT_NEAR(training_time_s({.steps = 100, .steps_per_s = 10, .checkpoint_s = 4}), 10, 1e-9);
}

TEST(TrainingTime, AReplacementComesAfterItsRequest) {
  // 70 s at 10 a second, the other 300 steps at 15.
  EXPECT_NEAR(time_with_replacement_s(1000, 70, 10, 15), 70 + 300 / 15.0, 1e-9);
  EXPECT_NEAR(time_with_replacement_s(600, 70, 10, 15), 60, 1e-9) << "it comes too late";
}

TEST(TrainingTime, LostWorkersAreMissedFromTheirLossOn) {
  EXPECT_NEAR(time_with_losses_s(400, 1, 4, {}), 100, 1e-9);
  // 50 s with four workers, 50 s with three, the other 50 steps with two.
  EXPECT_NEAR(time_with_losses_s(400, 1, 4, {100, 50}), 125, 1e-9);
  EXPECT_NEAR(time_with_losses_s(400, 1, 4, {100}), 100, 1e-9) << "it was done by then";
  EXPECT_NEAR(time_with_losses_s(400, 1, 4, {-3}), 400 / 3.0, 1e-9);
  EXPECT_NEAR(time_with_losses_s(10, 1, 2, {0, 0, 0}), 10, 1e-9) << "the last one stays";
}

TEST(TrainingTime, TheBestIntervalBalancesSavesAndLosses) {
  const double interval = best_checkpoint_interval_s(4, 1.0 / 7200);
  EXPECT_NEAR(interval, 240, 1e-9);
  EXPECT_TRUE(std::isinf(best_checkpoint_interval_s(4, 0)));
}

}  // namespace
}  // namespace orrery
