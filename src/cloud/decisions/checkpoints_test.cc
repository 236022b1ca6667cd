#include "cloud/decisions/checkpoints.h"

#include <gtest/gtest.h>

#include <cmath>

namespace orrery {
namespace {

using std::chrono::hours;
using std::chrono::milliseconds;

// Expected time of a second of training with failures at exponential times: exact, without the
// expansion that the rule comes from.
double overhead(double interval_s, double save_s, double hazard_per_h) {
  const double mean_s = 3600 / hazard_per_h;
  return mean_s * std::expm1((interval_s + save_s) / mean_s) / interval_s;
}

TEST(Checkpoints, ShortSavesFollowYoung) {
  // One failure in 100 h, a save of 1 s: sqrt(2 x 1 x 360000) = 848.5 s.
  EXPECT_NEAR(seconds(checkpoint_interval(from_seconds(1), 0.01)), 848.5, 1.0);
}

TEST(Checkpoints, NoOtherIntervalLosesLess) {
  for (const double hazard_per_h : {0.01, 0.5, 5.0}) {
    for (const double save_s : {1.0, 4.0, 60.0}) {
      const double best = seconds(checkpoint_interval(from_seconds(save_s), hazard_per_h));
      for (const double factor : {0.7, 0.85, 1.2, 1.5}) {
        EXPECT_LT(overhead(best, save_s, hazard_per_h),
                  overhead(best * factor, save_s, hazard_per_h))
            << hazard_per_h << " " << save_s << " " << factor;
      }
    }
  }
}

TEST(Checkpoints, AreNeverTakenWithoutHazardAndNeverOverlap) {
  EXPECT_EQ(checkpoint_interval(from_seconds(4), 0), kNever.time_since_epoch());
  EXPECT_EQ(checkpoint_interval(hours(3), 1), Duration(hours(3)));
  EXPECT_GE(checkpoint_interval(hours(1), 1), Duration(hours(1)));
}

TEST(Checkpoints, AreTakenOnANoticeThatLeavesTime) {
  const Duration save = from_seconds(4), step = milliseconds(500);
  EXPECT_TRUE(saves_on_notice(save, step, from_seconds(30), from_seconds(100)));
  EXPECT_FALSE(saves_on_notice(save, step, from_seconds(4.5), from_seconds(100)));
  EXPECT_FALSE(saves_on_notice(save, step, from_seconds(30), from_seconds(3)));
}

}  // namespace
}  // namespace orrery
