#include "scheduling/policy/deadline/elastic_clock.h"

#include <gtest/gtest.h>

#include <limits>

namespace orrery {
namespace {

TEST(ElasticClock, CountsWholeSecondsFromNowAndBack) {
  ElasticClock clock;
  clock.set(Time(std::chrono::milliseconds(2500)));
  EXPECT_EQ(clock.now_s(), 2);
  EXPECT_EQ(clock.instant(2), Time(std::chrono::milliseconds(2500)));
  EXPECT_EQ(clock.second(Time(std::chrono::milliseconds(5400))), 4);
  EXPECT_EQ(clock.second(Time(std::chrono::milliseconds(5500))), 5);
}

TEST(ElasticClock, ASecondPastTheEndOfTimeIsNever) {
  ElasticClock clock;
  clock.set(Time(std::chrono::milliseconds(1)));
  EXPECT_EQ(clock.instant(std::numeric_limits<std::int64_t>::max()), kNever);
}

}  // namespace
}  // namespace orrery
