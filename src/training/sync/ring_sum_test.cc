#include "training/sync/ring_sum.h"

#include <gtest/gtest.h>

namespace orrery {
namespace {

TEST(RingSum, MessagesOfHalvesAndOfWhatIsLeft) {
  EXPECT_EQ(messages_of_sum(1), 0);
  EXPECT_EQ(messages_of_sum(2), 2);
  EXPECT_EQ(messages_of_sum(3), 4);
  EXPECT_EQ(messages_of_sum(4), 4);
  EXPECT_EQ(messages_of_sum(6), 2 + 4);
  EXPECT_EQ(messages_of_sum(7), 12);
  EXPECT_EQ(messages_of_sum(8), 6);
  EXPECT_EQ(messages_of_sum(40), 6 + 8);
}

TEST(RingSum, BytesNearlyTwiceOverTheSlowestLinkAndAWhileForEachMessage) {
  EXPECT_EQ(ring_sum_s(1, 3, 1), 0);
  EXPECT_DOUBLE_EQ(ring_sum_s(8, 0.4, 0), 2 * 7 * 0.05);
  EXPECT_DOUBLE_EQ(ring_sum_s(8, 0.4, 0.01), 2 * 7 * 0.05 + 6 * 0.01);
}

}  // namespace
}  // namespace orrery
