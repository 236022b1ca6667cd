#include "model/sensitivity.h"

#include <gtest/gtest.h>

namespace orrery {
namespace {

constexpr std::int64_t kGb = 1'000'000'000;

Sensitivity demanding() {
  return {.cpu_milli = {1000, 3000, 6000},
          .memory_bytes = {20 * kGb, 60 * kGb},
          .speed = {0.1, 0.4,   //
                    0.1, 1.0,   //
                    0.1, 2.0},  //
          .ideal = {}};
}

TEST(Sensitivity, IsWhatWasMeasuredAtItsPoints) {
  EXPECT_DOUBLE_EQ(speed_with(demanding(), {3000, 60 * kGb}, 1), 1.0);
  EXPECT_DOUBLE_EQ(speed_with(demanding(), {24000, 240 * kGb}, 4), 2.0);
}

TEST(Sensitivity, LiesBetweenItsNeighboursInBothDirections) {
  EXPECT_DOUBLE_EQ(speed_with(demanding(), {4500, 60 * kGb}, 1), 1.5);
  EXPECT_DOUBLE_EQ(speed_with(demanding(), {3000, 40 * kGb}, 1), 0.55);
  EXPECT_DOUBLE_EQ(speed_with(demanding(), {4500, 40 * kGb}, 1), (0.1 + 1.5) / 2);
}

TEST(Sensitivity, StaysAtTheLastPointBeyondIt) {
  EXPECT_DOUBLE_EQ(speed_with(demanding(), {0, 60 * kGb}, 1), 0.4);
  EXPECT_DOUBLE_EQ(speed_with(demanding(), {99000, 999 * kGb}, 1), 2.0);
}

TEST(Sensitivity, WantsTheLeastThatIsNearlyTheFastest) {
  EXPECT_EQ(knee(demanding()), (HostShare{6000, 60 * kGb}));
  EXPECT_EQ(knee(demanding(), 0.5), (HostShare{3000, 60 * kGb}));
  const Sensitivity flat{
      .cpu_milli = {1000, 3000}, .memory_bytes = {20, 60}, .speed = {1, 1, 1, 1}, .ideal = {}};
  EXPECT_EQ(knee(flat), (HostShare{1000, 20}));
}

}  // namespace
}  // namespace orrery
