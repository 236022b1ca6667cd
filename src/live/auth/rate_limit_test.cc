#include "live/auth/rate_limit.h"

#include <gtest/gtest.h>

#include <string>

namespace orrery {
namespace {

using namespace std::chrono_literals;

int allowed(RateLimit& limit, std::string_view caller, std::chrono::nanoseconds now, int tries) {
  int count = 0;
  for (int i = 0; i < tries; ++i) count += limit.wait(caller, now).count() == 0 ? 1 : 0;
  return count;
}

TEST(RateLimit, LetsABurstThroughAndThenTheRate) {
  RateLimit limit({.per_second = 10, .burst = 5, .callers_max = 10});
  EXPECT_EQ(allowed(limit, "ann", 0s, 20), 5);
  EXPECT_EQ(allowed(limit, "ann", 100ms, 20), 1);
  EXPECT_EQ(allowed(limit, "ann", 350ms, 20), 2);
  EXPECT_EQ(allowed(limit, "ann", 1h, 20), 5);
}

TEST(RateLimit, SaysHowLongToWaitAndKeepsItsWord) {
  RateLimit limit({.per_second = 10, .burst = 1, .callers_max = 10});
  EXPECT_EQ(limit.wait("ann", 0s), 0s);
  EXPECT_EQ(limit.wait("ann", 30ms), 70ms);
  EXPECT_NE(limit.wait("ann", 99ms), 0s);
  EXPECT_EQ(limit.wait("ann", 100ms), 0s);
  const Status status = limit.check("ann", 150ms);
  ASSERT_FALSE(status.ok());
  EXPECT_EQ(status.error().code, Code::ResourceExhausted);
  EXPECT_EQ(status.error().message, "too many requests: try again in 0.050 s");
}

TEST(RateLimit, OneCallersCallsDoNotCountForAnother) {
  RateLimit limit({.per_second = 1, .burst = 2, .callers_max = 10});
  EXPECT_EQ(allowed(limit, "ann", 0s, 9), 2);
  EXPECT_EQ(allowed(limit, "bob", 0s, 9), 2);
}

TEST(RateLimit, AClockThatRunsBackwardsGivesNothingAway) {
  RateLimit limit({.per_second = 1, .burst = 2, .callers_max = 10});
  EXPECT_EQ(allowed(limit, "ann", 100s, 9), 2);
  EXPECT_EQ(allowed(limit, "ann", 0s, 9), 0);
  EXPECT_EQ(allowed(limit, "ann", 101s, 9), 1);
}

TEST(RateLimit, MadeUpNamesNeitherGrowTheMemoryNorGetMoreThanTheirShare) {
  RateLimit limit({.per_second = 1, .burst = 2, .callers_max = 100});
  EXPECT_EQ(allowed(limit, "ann", 0s, 9), 2);
  int through = 0;
  for (int i = 0; i < 10000; ++i) through += allowed(limit, "x" + std::to_string(i), 0s, 1);
  EXPECT_EQ(limit.callers(), 100u);
  EXPECT_EQ(through, 99 + 2);                   // those remembered, and the bucket of the others
  EXPECT_EQ(allowed(limit, "ann", 0s, 9), 0);   // not forgotten, so nothing won
  EXPECT_EQ(allowed(limit, "new", 10s, 9), 2);  // buckets are full again and are forgotten
  EXPECT_EQ(allowed(limit, "new2", 10s, 9), 2);
  EXPECT_EQ(limit.callers(), 100u);
}

TEST(RateLimit, WorksWithoutRememberingAnyCaller) {
  RateLimit limit({.per_second = 1, .burst = 3, .callers_max = 0});
  EXPECT_EQ(allowed(limit, "ann", 0s, 2), 2);
  EXPECT_EQ(allowed(limit, "bob", 0s, 2), 1);
  EXPECT_EQ(limit.callers(), 0u);
}

}  // namespace
}  // namespace orrery
