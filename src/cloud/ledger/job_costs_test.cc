#include "cloud/ledger/job_costs.h"

#include <gtest/gtest.h>

#include "cloud/ledger/test_ledger.h"

namespace orrery {
namespace {

LedgerServer lived(int index, double from_s, double to_s, EndReason reason) {
  LedgerServer row;
  row.server.spec = spot_worker("job", index);
  row.server.requested = row.server.running = february(from_s);
  row.server.ended = february(to_s);
  row.server.state = ServerState::Ended;
  row.server.end_reason = reason;
  row.usd_per_s = 0.0001;
  row.on_demand_usd_per_s = 0.0004;
  return row;
}

const LedgerJob kJob{.name = "job", .started = february(0)};

TEST(JobCosts, TheSameHoursOnDemandAreTheComparison) {
  const std::vector<LedgerServer> rows = {lived(0, 0, 3600, EndReason::Completed),
                                          lived(1, 0, 1800, EndReason::Revoked)};
  const JobCost cost = job_costs({&kJob, 1}, rows, february(9999)).at(0);
  EXPECT_EQ(cost.servers, 2);
  EXPECT_EQ(cost.revoked, 1);
  EXPECT_EQ(cost.live, 0);
  EXPECT_DOUBLE_EQ(cost.server_hours, 1.5);
  EXPECT_DOUBLE_EQ(cost.usd.value_or(-1), 0.54);
  EXPECT_DOUBLE_EQ(cost.on_demand_usd.value_or(-1), 2.16);
  EXPECT_DOUBLE_EQ(saving_pct(cost).value_or(-1), 75);
}

TEST(JobCosts, AMissingPriceLeavesTheSumUnknown) {
  std::vector<LedgerServer> rows = {lived(0, 0, 3600, EndReason::Completed),
                                    lived(1, 0, 1800, EndReason::Revoked)};
  rows[0].on_demand_usd_per_s.reset();
  const JobCost cost = job_costs({&kJob, 1}, rows, february(9999)).at(0);
  EXPECT_TRUE(cost.usd.has_value());
  EXPECT_FALSE(cost.on_demand_usd.has_value());
  EXPECT_FALSE(saving_pct(cost).has_value());
}

TEST(JobCosts, ServersThatLiveAreCountedSoFarAndThoseThatNeverRanNotAtAll) {
  std::vector<LedgerServer> rows = {lived(0, 0, 3600, EndReason::Completed),
                                    lived(1, 0, 1800, EndReason::StockOut)};
  rows[0].server.state = ServerState::Running;
  rows[0].server.end_reason = EndReason::None;
  rows[0].server.ended = kNever;
  rows[1].server.running = kNever;
  rows[1].usd_per_s.reset();
  const JobCost cost = job_costs({&kJob, 1}, rows, february(7200)).at(0);
  EXPECT_EQ(cost.live, 1);
  EXPECT_EQ(cost.never_ran, 1);
  EXPECT_DOUBLE_EQ(cost.usd.value_or(-1), 0.72);
}

TEST(JobCosts, TheLastInstantIsThatOfAnyRow) {
  const std::vector<LedgerServer> rows = {lived(0, 0, 3600, EndReason::Completed)};
  EXPECT_EQ(last_instant({&kJob, 1}, rows), february(3600));
  EXPECT_EQ(last_instant({}, {}), Time{});
}

}  // namespace
}  // namespace orrery
