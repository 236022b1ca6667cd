#include "cloud/market/spot_policies.h"

#include <gtest/gtest.h>

#include "cloud/market/deadline_guard.h"
#include "cloud/market/spot_run.h"
#include "cloud/market/test_market.h"

namespace orrery {
namespace {

using std::chrono::hours;
using std::chrono::minutes;

SpotRun run_of(std::string_view name, const SpotMarket& market, const SpotJob& job,
               std::size_t start = 0, std::uint64_t seed = 1) {
  const auto policy = find_spot_policy(name).value()->make(
      {.job = job, .tick = market.tick(), .zones = market.zones(), .seed = seed});
  return run_spot_policy(market, job, start, *policy);
}

SpotMarket one_zone(std::vector<std::int32_t> capacity, Duration tick = minutes(10)) {
  return SpotMarket::join({{.name = "a", .tick = tick, .capacity = std::move(capacity)}}).value();
}

// Takes capacity away whenever a machine was started there, as the policy sees it. What it answers
// is written into a market tick by tick, so the run can be made over it.
class Adversary {
 public:
  Adversary(const SpotJob& job, Duration tick, int zones) : job_(job), tick_(tick), zones_(zones) {}

  SpotRun play(SpotPolicy& policy, Random& random) const {
    SpotView view{.work_left = job_.work};
    SpotRun run;
    while (view.work_left > Duration{} && view.elapsed < 2 * job_.deadline) {
      view.zones = ZoneSet{};
      for (int zone = 0; zone < zones_; ++zone) {
        const bool held = view.held == spot_in(zone);
        // A machine that is about to work, or just works, is lost most of the time.
        const bool spite = held && view.changeover_left < tick_;
        if (random.uniform() < (spite ? 0.3 : 0.8)) view.zones.add(zone);
      }
      if (view.held.kind == MachineKind::Spot && !view.zones.has(view.held.zone)) {
        view.held = kNoMachine;
        view.changeover_left = {};
        ++run.revocations;
      }
      const MachineChoice next = policy.decide(view);
      EXPECT_TRUE(next.kind != MachineKind::Spot || view.zones.has(next.zone));
      if (next != view.held)
        view.changeover_left = next == kNoMachine ? Duration{} : job_.changeover;
      view.held = next;
      const Duration held =
          next == kNoMachine ? tick_ : std::min(tick_, view.changeover_left + view.work_left);
      const Duration cold = std::min(held, view.changeover_left);
      if (next != kNoMachine) view.work_left -= held - cold;
      view.changeover_left -= cold;
      view.elapsed += held;
    }
    run.finish = view.elapsed;
    run.met = view.work_left <= Duration{} && view.elapsed <= job_.deadline;
    return run;
  }

 private:
  SpotJob job_;
  Duration tick_;
  int zones_;
};

TEST(SpotPolicies, EveryPolicyKeepsEveryDeadlineThatOnDemandKeeps) {
  Random random(21);
  for (int round = 0; round < 500; ++round) {
    const Duration tick = round % 2 == 0 ? minutes(5) : Duration(std::chrono::seconds(32));
    const SpotMarket market = random_market(random, 1 + round % 5, 160, tick);
    const SpotJob job = random_job(random, 160, tick);
    for (const SpotPolicyInfo* info : spot_policies()) {
      const SpotRun run = run_of(info->name, market, job);
      EXPECT_TRUE(run.met) << info->name << " in round " << round << ": finish "
                           << seconds(run.finish) << " deadline " << seconds(job.deadline)
                           << " change-over " << seconds(job.changeover);
    }
  }
}

TEST(SpotPolicies, EveryPolicyKeepsTheDeadlineAgainstAnAdversary) {
  Random random(22);
  for (int round = 0; round < 500; ++round) {
    const Duration tick = minutes(5);
    const int zones = 1 + round % 4;
    const SpotJob job = random_job(random, 120, tick);
    for (const SpotPolicyInfo* info : spot_policies()) {
      const auto policy = info->make(
          {.job = job, .tick = tick, .zones = zones, .seed = static_cast<std::uint64_t>(round)});
      EXPECT_TRUE(Adversary(job, tick, zones).play(*policy, random).met)
          << info->name << " in round " << round << ": work " << seconds(job.work) << " deadline "
          << seconds(job.deadline) << " change-over " << seconds(job.changeover);
    }
  }
}

TEST(SpotPolicies, TheSameViewsGiveTheSamePlan) {
  Random random(23);
  const SpotMarket market = random_market(random, 3, 400, minutes(5));
  const SpotJob job{.work = hours(20), .deadline = hours(30), .changeover = minutes(6)};
  for (const SpotPolicyInfo* info : spot_policies()) {
    const SpotRun one = run_of(info->name, market, job);
    const SpotRun two = run_of(info->name, market, job);
    EXPECT_EQ(one.cost, two.cost) << info->name;
    EXPECT_EQ(one.finish, two.finish) << info->name;
  }
}

TEST(SpotPolicies, WithoutSlackEveryPolicyRunsOnDemand) {
  const SpotMarket market = one_zone(std::vector<std::int32_t>(60, 1));
  const SpotJob job{.work = hours(8), .deadline = hours(8) + minutes(7), .changeover = minutes(7)};
  for (const SpotPolicyInfo* info : spot_policies()) {
    EXPECT_NEAR(run_of(info->name, market, job).cost, job.on_demand_cost(), 1e-9) << info->name;
  }
}

TEST(SpotPolicies, WhereCapacityStaysEveryPolicyButOnDemandRunsOnSpot) {
  const SpotMarket market = one_zone(std::vector<std::int32_t>(120, 1));
  const SpotJob job{.work = hours(10), .deadline = hours(15), .changeover = minutes(6)};
  for (const SpotPolicyInfo* info : spot_policies()) {
    const SpotRun run = run_of(info->name, market, job);
    if (info->name == "on-demand") {
      EXPECT_NEAR(run.cost, 10.1, 1e-9);
    } else {
      EXPECT_NEAR(run.cost, 10.1 / 3, 0.2) << info->name;
    }
  }
}

TEST(SpotPolicies, AnUnknownNameIsAnsweredWithTheNearest) {
  const auto policy = find_spot_policy("gredy");
  ASSERT_FALSE(policy.ok());
  EXPECT_EQ(policy.error().message, "there is no policy 'gredy'; did you mean greedy?");
}

TEST(DeadlineGuard, ASpotMachineNeedsTwoChangeoversOfSlackToStartAndOneToStay) {
  const SpotJob job{
      .work = hours(2), .deadline = hours(2) + minutes(20), .changeover = minutes(10)};
  const DeadlineGuard guard(job, minutes(15));
  SpotView view{.work_left = hours(2)};
  EXPECT_TRUE(guard.keeps_deadline(view, spot_in(0)));
  EXPECT_FALSE(guard.keeps_deadline(view, kNoMachine));  // an idle tick takes 15
  view.elapsed = minutes(1);
  EXPECT_FALSE(guard.keeps_deadline(view, spot_in(0)));
  EXPECT_TRUE(guard.keeps_deadline(view, kOnDemand));
  view.held = spot_in(0);
  EXPECT_TRUE(guard.keeps_deadline(view, spot_in(0)));
}

TEST(DeadlineGuard, AMachineThatEndsTheWorkInThisTickKeepsTheDeadline) {
  const SpotJob job{.work = hours(2), .deadline = hours(3), .changeover = minutes(10)};
  const DeadlineGuard guard(job, minutes(15));
  SpotView view{.elapsed = hours(3) - minutes(15), .work_left = minutes(5)};
  EXPECT_TRUE(guard.keeps_deadline(view, spot_in(0)));
  view.elapsed += minutes(1);
  EXPECT_FALSE(guard.keeps_deadline(view, spot_in(0)));
}

TEST(Greedy, ItIdlesUntilTheSlackIsUsedUpAndThenStaysOnDemand) {
  // No capacity for two hours, then capacity to the end: too late, the slack of an hour is gone.
  std::vector<std::int32_t> capacity(12, 0);
  capacity.resize(60, 1);
  const SpotJob job{.work = hours(6), .deadline = hours(7), .changeover = minutes(10)};
  const SpotRun run = run_of("greedy", one_zone(capacity), job);
  EXPECT_EQ(run.spot, Duration{});
  EXPECT_EQ(run.finish, hours(7));
}

TEST(UniformProgress, ItRunsOnDemandWhereItIsBehindAndIdlesWhereItIsAhead) {
  const SpotJob job{.work = hours(5), .deadline = hours(10), .changeover = minutes(10)};
  // Behind from the second tick on; without any capacity it follows the even line.
  const SpotRun none = run_of("uniform-progress", one_zone(std::vector<std::int32_t>(60, 0)), job);
  EXPECT_TRUE(none.met);
  EXPECT_GT(none.finish, hours(9));
  EXPECT_GT(none.on_demand, hours(6));  // many change-overs
}

TEST(UniformProgress, OnDemandIsLeftForSpotOnlyTwoChangeoversAhead) {
  // Capacity is back after an hour on demand. c_p(t) = t - 10 min on demand, and
  // c_e(t + 2d) = (t + 20 min) / 2, so it is left at t = 40 min at the earliest.
  std::vector<std::int32_t> capacity(2, 0);
  capacity.resize(60, 1);
  const SpotJob job{.work = hours(5), .deadline = hours(10), .changeover = minutes(10)};
  const SpotRun run = run_of("uniform-progress", one_zone(capacity), job);
  // Idle in the first tick, on demand from 10 to 70 minutes, when 50 min of work meet 45.
  EXPECT_EQ(run.on_demand, minutes(50));
}

TEST(Ross, TheSeedMovesTheIntervalOnDemand) {
  // Without capacity the first time on demand is the drawn interval.
  const SpotJob job{.work = hours(8), .deadline = hours(13), .changeover = {}};
  const auto begin_of = [&](std::uint64_t seed) {
    const auto policy = find_spot_policy("ross").value()->make(
        {.job = job, .tick = minutes(1), .zones = 1, .seed = seed});
    SpotView view{.work_left = job.work};
    while (policy->decide(view) == kNoMachine) view.elapsed += minutes(1);
    return view.elapsed;
  };
  EXPECT_EQ(begin_of(1), begin_of(1));
  EXPECT_NE(begin_of(1), begin_of(2));
  EXPECT_LE(begin_of(3), hours(5));
}

TEST(SkyNomad, ItPrefersTheZoneThatLivesLonger) {
  // The first zone flickers, the second stays.
  std::vector<std::int32_t> flickers, stays(200, 1);
  for (int i = 0; i < 200; ++i) flickers.push_back(i % 3 == 2 ? 0 : 1);
  const SpotMarket market =
      SpotMarket::join({{.name = "a", .tick = minutes(10), .capacity = flickers},
                        {.name = "b", .tick = minutes(10), .capacity = stays}})
          .value();
  const SpotJob job{.work = hours(15), .deadline = hours(30), .changeover = minutes(10)};
  EXPECT_LE(run_of("skynomad", market, job).revocations, 3);
  EXPECT_LE(run_of("orrery-spot", market, job).revocations, 3);
}

}  // namespace
}  // namespace orrery
