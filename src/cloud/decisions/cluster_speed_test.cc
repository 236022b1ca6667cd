#include "cloud/decisions/cluster_speed.h"

#include <gtest/gtest.h>

namespace orrery {
namespace {

TEST(ClusterSpeed, IsTheSumWithoutACap) {
  EXPECT_EQ(cluster_speed(12, {}), 12);
  EXPECT_EQ(cluster_speed(0, {}), 0);
}

// Rows `ps_softmin` of the reference: one and two servers, K80 and V100.
TEST(ClusterSpeed, FollowsTheSoftMinimumOfTheReference) {
  const SpeedCap one{.steps_per_s = 43.80807623, .sharpness = 4.150581529};
  const SpeedCap two{.steps_per_s = 83.32817644, .sharpness = 4.150581529};
  EXPECT_NEAR(cluster_speed(28.853606, one), 27.74426302, 1e-6);
  EXPECT_NEAR(cluster_speed(28.853606, two), 28.76906172, 1e-6);
  EXPECT_NEAR(cluster_speed(115.414423, one), 43.6208036, 1e-6);
  EXPECT_NEAR(cluster_speed(36.361042, two), 36.08614683, 1e-6);
}

TEST(ClusterSpeed, StaysBelowSumAndCap) {
  const SpeedCap cap{.steps_per_s = 40, .sharpness = 4};
  for (const double sum : {1e-9, 1.0, 39.0, 40.0, 41.0, 1e6, 1e300}) {
    EXPECT_LE(cluster_speed(sum, cap), sum);
    EXPECT_LE(cluster_speed(sum, cap), 40);
  }
  EXPECT_EQ(cluster_speed(10, {.steps_per_s = 0, .sharpness = 4}), 0);
}

}  // namespace
}  // namespace orrery
