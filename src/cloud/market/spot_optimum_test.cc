#include "cloud/market/spot_optimum.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "cloud/market/spot_policies.h"
#include "cloud/market/spot_run.h"
#include "cloud/market/test_market.h"

namespace orrery {
namespace {

using std::chrono::hours;
using std::chrono::minutes;

// Follows a list of choices, one for each tick.
class Scripted final : public SpotPolicy {
 public:
  explicit Scripted(std::vector<MachineChoice> choices) : choices_(std::move(choices)) {}
  MachineChoice decide(const SpotView& view) override {
    const MachineChoice next = choices_[at_++];
    return next.kind == MachineKind::Spot && !view.zones.has(next.zone) ? kNoMachine : next;
  }

 private:
  std::vector<MachineChoice> choices_;
  std::size_t at_ = 0;
};

// Tries every plan.
double least_cost_of_all(const SpotMarket& market, const SpotJob& job) {
  std::vector<MachineChoice> machines = {kNoMachine, kOnDemand};
  for (int zone = 0; zone < market.zones(); ++zone) machines.push_back(spot_in(zone));
  const std::size_t ticks = market.ticks();
  std::vector<std::size_t> digits(ticks, 0);
  double least = 1e300;
  while (true) {
    std::vector<MachineChoice> choices;
    for (const std::size_t digit : digits) choices.push_back(machines[digit]);
    Scripted policy(choices);
    const SpotRun run = run_spot_policy(market, job, 0, policy);
    if (run.met) least = std::min(least, run.cost);
    std::size_t place = 0;
    while (place < ticks && ++digits[place] == machines.size()) digits[place++] = 0;
    if (place == ticks) return least;
  }
}

TEST(SpotOptimum, EqualsTheLeastCostOfAllPlansOnSmallMarkets) {
  Random random(11);
  for (int round = 0; round < 400; ++round) {
    const int zones = 1 + round % 3;
    const std::size_t ticks = zones == 1 ? 8 : zones == 2 ? 7 : 5;
    const SpotMarket market = random_market(random, zones, ticks, minutes(5));
    SpotJob job = random_job(random, ticks, market.tick());
    job.prices.spot = round % 5 == 0 ? 1.2 : 0.1 + 0.8 * random.uniform();
    const auto optimum = optimal_spot_cost(market, job, 0);
    ASSERT_TRUE(optimum.ok());
    EXPECT_NEAR(optimum.value(), least_cost_of_all(market, job), 1e-9)
        << "round " << round << " work " << seconds(job.work) << " deadline "
        << seconds(job.deadline) << " change-over " << seconds(job.changeover);
  }
}

TEST(SpotOptimum, NoPolicyIsCheaper) {
  Random random(12);
  for (int round = 0; round < 60; ++round) {
    const SpotMarket market = random_market(random, 1 + round % 4, 200, minutes(5));
    const SpotJob job = random_job(random, 150, market.tick());
    const std::size_t start = static_cast<std::size_t>(random.between(0, 50));
    const double optimum = optimal_spot_cost(market, job, start).value();
    EXPECT_LE(optimum, job.on_demand_cost() + 1e-9);
    for (const SpotPolicyInfo* info : spot_policies()) {
      const auto policy =
          info->make({.job = job, .tick = market.tick(), .zones = market.zones(), .seed = 1});
      const SpotRun run = run_spot_policy(market, job, start, *policy);
      EXPECT_GE(run.cost, optimum - 1e-9) << info->name << " in round " << round;
    }
  }
}

TEST(SpotOptimum, ATableThatDoesNotFitIsRefused) {
  const SpotMarket market =
      SpotMarket::join({{.name = "a", .tick = minutes(5), .capacity = std::vector(1000, 1)}})
          .value();
  const SpotJob job{
      .work = hours(24), .deadline = hours(48), .changeover = Duration(60'000'000'001)};
  EXPECT_FALSE(optimal_spot_cost(market, job, 0).ok());
}

}  // namespace
}  // namespace orrery
