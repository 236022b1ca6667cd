#include "cloud/market/spot_run.h"

#include <gtest/gtest.h>

#include <functional>

namespace orrery {
namespace {

using std::chrono::minutes;

class Choosing final : public SpotPolicy {
 public:
  explicit Choosing(std::function<MachineChoice(const SpotView&)> choose)
      : choose_(std::move(choose)) {}
  MachineChoice decide(const SpotView& view) override { return choose_(view); }

 private:
  std::function<MachineChoice(const SpotView&)> choose_;
};

SpotMarket market_of(std::vector<std::int32_t> capacity) {
  return SpotMarket::join({{.name = "a", .tick = minutes(10), .capacity = std::move(capacity)}})
      .value();
}

const SpotJob kJob{.work = minutes(25), .deadline = minutes(60), .changeover = minutes(4)};

TEST(SpotRun, OnDemandIsPaidFromItsStartToTheEndOfTheWork) {
  Choosing policy([](const SpotView&) { return kOnDemand; });
  const SpotRun run = run_spot_policy(market_of({0, 0, 0, 0, 0, 0}), kJob, 0, policy);
  EXPECT_EQ(run.finish, minutes(29));
  EXPECT_EQ(run.on_demand, minutes(29));
  EXPECT_NEAR(run.cost, 29.0 / 60, 1e-12);
  EXPECT_NEAR(run.cost, kJob.on_demand_cost(), 1e-12);
  EXPECT_TRUE(run.met);
}

TEST(SpotRun, ALostMachineIsARevocationAndTheNextOneStartsWithAChangeover) {
  Choosing policy(
      [](const SpotView& view) { return view.zones.empty() ? kNoMachine : spot_in(0); });
  const SpotRun run = run_spot_policy(market_of({1, 0, 1, 1, 1, 0}), kJob, 0, policy);
  EXPECT_EQ(run.revocations, 1);
  EXPECT_EQ(run.finish, minutes(43));  // 6 of work, an idle tick, then 4 and 19 more
  EXPECT_EQ(run.spot, minutes(33));
  EXPECT_NEAR(run.cost, 33.0 / 60 / 3, 1e-12);
}

TEST(SpotRun, AChangeoverLongerThanATickGoesOnInTheNextOne) {
  SpotJob job = kJob;
  job.changeover = minutes(14);
  Choosing policy([](const SpotView&) { return kOnDemand; });
  EXPECT_EQ(run_spot_policy(market_of({0, 0, 0, 0, 0, 0}), job, 0, policy).finish, minutes(39));
}

TEST(SpotRun, FromTheDeadlineOnAJobRunsOnDemand) {
  Choosing policy([](const SpotView&) { return kNoMachine; });
  const SpotRun run = run_spot_policy(market_of({1, 1, 1, 1, 1, 1}), kJob, 0, policy);
  EXPECT_FALSE(run.met);
  EXPECT_EQ(run.finish, minutes(89));
}

TEST(SpotRun, TheViewShowsTheTimeTheWorkAndTheMachine) {
  std::vector<SpotView> views;
  Choosing policy([&](const SpotView& view) {
    views.push_back(view);
    return view.zones.empty() ? kOnDemand : spot_in(0);
  });
  run_spot_policy(market_of({1, 1, 0, 0, 0, 0, 0}), kJob, 1, policy);
  ASSERT_GE(views.size(), 2U);
  EXPECT_EQ(views[0].held, kNoMachine);
  EXPECT_EQ(views[1].elapsed, minutes(10));
  EXPECT_EQ(views[1].work_left, minutes(19));
  EXPECT_EQ(views[1].held, kNoMachine);  // lost
  EXPECT_EQ(views[2].held, kOnDemand);
  EXPECT_EQ(views[2].changeover_left, Duration{});
}

}  // namespace
}  // namespace orrery
