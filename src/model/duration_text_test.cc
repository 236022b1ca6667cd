#include "model/duration_text.h"

#include <gtest/gtest.h>

namespace orrery {
namespace {

TEST(DurationText, TwoUnitsAreRoundedUpToSeconds) {
  using std::chrono::milliseconds;
  using std::chrono::seconds;
  EXPECT_EQ(two_unit_text(Duration(1)), "1s");
  EXPECT_EQ(two_unit_text(milliseconds(59'001)), "1m00s");
  EXPECT_EQ(two_unit_text(seconds(7500)), "2h05m");
  EXPECT_EQ(two_unit_text(seconds(370'800)), "4d07h");
}

}  // namespace
}  // namespace orrery
