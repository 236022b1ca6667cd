#include "cloud/market/spot_market.h"

#include <gtest/gtest.h>

#include "cloud/market/spot_job.h"

namespace orrery {
namespace {

using std::chrono::hours;
using std::chrono::minutes;

SpotTrace trace_of(std::vector<std::int32_t> capacity, Duration tick = minutes(5)) {
  return {.name = "west", .tick = tick, .capacity = std::move(capacity)};
}

TEST(SpotMarket, AZoneHasCapacityWhereTheWholeJobFits) {
  const auto market = SpotMarket::join({trace_of({0, 4, 3}), trace_of({4, 4, 0, 9})}, 4);
  ASSERT_TRUE(market.ok());
  EXPECT_EQ(market.value().ticks(), 3U);  // of the shorter one
  EXPECT_EQ(market.value().zones_with_capacity(0), ZoneSet(0b10));
  EXPECT_EQ(market.value().zones_with_capacity(1), ZoneSet(0b11));
  EXPECT_EQ(market.value().zones_with_capacity(2), ZoneSet());
}

TEST(SpotMarket, ZonesWithDifferentTicksAreRefused) {
  const auto market = SpotMarket::join({trace_of({1}), trace_of({1}, minutes(1))});
  ASSERT_FALSE(market.ok());
  EXPECT_EQ(market.error().message,
            "west has ticks of 300 s and west of 60 s; plan over traces with equal ticks");
}

TEST(SpotMarket, NoZoneAndTooManyZonesAreRefused) {
  EXPECT_FALSE(SpotMarket::join({}).ok());
  EXPECT_TRUE(SpotMarket::join(std::vector<SpotTrace>(64, trace_of({1}))).ok());
  EXPECT_FALSE(SpotMarket::join(std::vector<SpotTrace>(65, trace_of({1}))).ok());
}

TEST(SpotJob, ADeadlineThatCannotBeKeptIsRefusedWithTheEarliestOne) {
  SpotJob job{.work = hours(48), .deadline = hours(48), .changeover = minutes(6)};
  const Status status = check_spot_job(job);
  ASSERT_FALSE(status.ok());
  EXPECT_NE(status.error().message.find("the earliest is 2886m"), std::string::npos)
      << status.error().message;
  job.deadline = job.earliest_end();
  EXPECT_TRUE(check_spot_job(job).ok());
}

TEST(SpotJob, ValuesOutOfRangeAreRefused) {
  const SpotJob good{.work = hours(1), .deadline = hours(2), .changeover = minutes(6)};
  EXPECT_TRUE(check_spot_job(good).ok());
  SpotJob job = good;
  job.work = {};
  EXPECT_FALSE(check_spot_job(job).ok());
  job = good;
  job.changeover = -minutes(1);
  EXPECT_FALSE(check_spot_job(job).ok());
  job = good;
  job.deadline = kNever.time_since_epoch();
  EXPECT_FALSE(check_spot_job(job).ok());
  job = good;
  job.prices.spot = 0;
  EXPECT_FALSE(check_spot_job(job).ok());
  job.prices.spot = std::nan("");
  EXPECT_FALSE(check_spot_job(job).ok());
}

TEST(SpotJob, AStartLeavesTimeForTheDeadlineInTheTrace) {
  const auto market = SpotMarket::join({trace_of(std::vector<std::int32_t>(30, 1))}).value();
  SpotJob job{.work = hours(1), .deadline = minutes(61), .changeover = minutes(1)};
  EXPECT_TRUE(check_spot_start(market, job, 17).ok());  // 13 ticks, the last one in part
  const Status late = check_spot_start(market, job, 18);
  ASSERT_FALSE(late.ok());
  EXPECT_NE(late.error().message.find("the last possible start is tick 17"), std::string::npos);
  job.deadline = hours(3);
  const Status never = check_spot_start(market, job, 0);
  ASSERT_FALSE(never.ok());
  EXPECT_NE(never.error().message.find("ends after 30 ticks"), std::string::npos);
}

}  // namespace
}  // namespace orrery
