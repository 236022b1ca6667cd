#include "cloud/autoscaling/autoscaling.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "base/random.h"

namespace orrery {
namespace {

using std::chrono::minutes;

Offer offer(const char* zone, OfferClass offer_class, double price, int gpus = 4,
            const char* gpu = "V100") {
  return {.zone = zone,
          .machine_type = "big",
          .gpu = gpu,
          .gpus = gpus,
          .offer_class = offer_class,
          .price_usd_per_hour = price};
}

HeldServer held(const char* name, const Offer& offer, int gpus_free) {
  HeldServer server;
  server.name = name;
  server.offer = offer;
  server.joined = true;
  server.gpus_free = gpus_free;
  return server;
}

AutoscalingView view_of_two_zones() {
  AutoscalingView view;
  view.now = Time(minutes(60));
  view.offers = {offer("a", OfferClass::OnDemand, 12), offer("a", OfferClass::Spot, 4),
                 offer("b", OfferClass::Spot, 4)};
  return view;
}

TEST(PlanServers, AsksForNothingWhileNoJobWaits) {
  const AutoscalingPlan plan = plan_servers(view_of_two_zones(), {});
  EXPECT_TRUE(plan.create.empty());
  EXPECT_TRUE(plan.stop.empty());
  EXPECT_EQ(plan.wake_at, kNever);
}

TEST(PlanServers, TakesSpotServersAndSpreadsThemOverZones) {
  AutoscalingView view = view_of_two_zones();
  view.waiting = {{.gpus = 4}, {.gpus = 4}};
  const AutoscalingPlan plan = plan_servers(view, {});
  ASSERT_EQ(plan.create.size(), 2U);
  EXPECT_EQ(plan.create[0].offer.zone, "a");
  EXPECT_EQ(plan.create[1].offer.zone, "b");
  EXPECT_EQ(plan.create[0].offer.offer_class, OfferClass::Spot);
  EXPECT_EQ(plan.shortage, "");
}

TEST(PlanServers, ServesAnUrgentJobOnDemand) {
  AutoscalingView view = view_of_two_zones();
  view.waiting = {{.gpus = 1, .start_latest = view.now}};
  const AutoscalingPlan plan = plan_servers(view, {});
  ASSERT_EQ(plan.create.size(), 1U);
  EXPECT_EQ(plan.create[0].offer.offer_class, OfferClass::OnDemand);
}

TEST(PlanServers, CountsFreeGpusOfHeldAndStartingServers) {
  AutoscalingView view = view_of_two_zones();
  HeldServer starting = held("s2", view.offers[1], 0);
  starting.joined = false;
  view.held = {held("s1", view.offers[1], 2), starting};
  view.waiting = {{.gpus = 2}, {.gpus = 4}};
  EXPECT_TRUE(plan_servers(view, {}).create.empty());
  view.waiting.push_back({.gpus = 1});
  EXPECT_EQ(plan_servers(view, {}).create.size(), 1U);
}

TEST(PlanServers, GivesAJobLargerThanAMachineSeveralOfOneZone) {
  AutoscalingView view = view_of_two_zones();
  view.waiting = {{.gpus = 10}};
  const AutoscalingPlan plan = plan_servers(view, {});
  ASSERT_EQ(plan.create.size(), 1U);
  EXPECT_EQ(plan.create[0].count, 3);
  EXPECT_TRUE(plan.create[0].together);
}

TEST(PlanServers, LeavesAnOfferAloneAfterAStockOut) {
  AutoscalingView view = view_of_two_zones();
  view.waiting = {{.gpus = 4}};
  view.stock_outs[offer_key(view.offers[1])] = view.now - minutes(1);
  const AutoscalingPlan plan = plan_servers(view, {});
  ASSERT_EQ(plan.create.size(), 1U);
  EXPECT_EQ(plan.create[0].offer.zone, "b");
  EXPECT_EQ(plan.wake_at, view.now + minutes(4));
}

TEST(PlanServers, SaysWhichTypeNoOfferHas) {
  AutoscalingView view = view_of_two_zones();
  view.waiting = {{.gpus = 1, .gpu_type = "H200"}};
  const AutoscalingPlan plan = plan_servers(view, {});
  EXPECT_TRUE(plan.create.empty());
  EXPECT_EQ(plan.shortage, "no offer with GPUs of type 'H200' has capacity now");
}

TEST(PlanServers, StopsTheMostExpensiveIdleServersAndKeepsTheLeast) {
  AutoscalingView view = view_of_two_zones();
  view.held = {held("spot", view.offers[1], 4), held("sure", view.offers[0], 4)};
  for (HeldServer& server : view.held) server.idle_since = view.now - minutes(6);
  const AutoscalingPlan plan = plan_servers(view, {.servers_min = 1});
  ASSERT_EQ(plan.stop.size(), 1U);
  EXPECT_EQ(plan.stop[0].server, "sure");
  EXPECT_EQ(plan.stop[0].reason, "idle for 360 s");
}

TEST(PlanServers, KeepsAnIdleServerThatAWaitingJobNeeds) {
  AutoscalingView view = view_of_two_zones();
  view.held = {held("spot", view.offers[1], 4)};
  view.held[0].idle_since = view.now - minutes(6);
  view.waiting = {{.gpus = 3}};
  EXPECT_TRUE(plan_servers(view, {}).stop.empty());
}

TEST(PlanServers, WakesWhenAServerHasBeenIdleForLongEnough) {
  AutoscalingView view = view_of_two_zones();
  view.held = {held("spot", view.offers[1], 4)};
  view.held[0].idle_since = view.now - minutes(2);
  const AutoscalingPlan plan = plan_servers(view, {});
  EXPECT_TRUE(plan.stop.empty());
  EXPECT_EQ(plan.wake_at, view.now + minutes(3));
}

TEST(PlanServers, StaysBelowTheBudgetOfAnHour) {
  AutoscalingView view = view_of_two_zones();
  view.waiting.assign(5, {.gpus = 4});
  const AutoscalingPlan plan = plan_servers(view, {.budget_usd_per_hour = 9});
  EXPECT_EQ(plan.create.size(), 2U);
  EXPECT_EQ(plan.shortage, "12.00 USD an hour would exceed the budget of 9.00");
}

TEST(PlanServers, StopsAllBeforeTheBudgetIsSpent) {
  AutoscalingView view = view_of_two_zones();
  view.held = {held("s1", view.offers[1], 0)};
  view.held[0].cost_usd = 5;
  // Two more minutes of the server cost 0.13 USD.
  EXPECT_TRUE(plan_servers(view, {.budget_usd = 5.2}).stop.empty());
  const AutoscalingPlan plan = plan_servers(view, {.budget_usd = 5.1});
  ASSERT_EQ(plan.stop.size(), 1U);
  EXPECT_EQ(plan.stop[0].reason, "the budget of 5.10 USD is spent");
}

int below(Random& random, int end) { return static_cast<int>(random.uniform() * end); }

// A small world of random jobs and servers, stepped by what the plan asks for.
TEST(PlanServersLaw, NeverExceedsLimitsAndBudgets) {
  for (std::uint64_t seed = 1; seed <= 200; ++seed) {
    Random random(seed);
    AutoscalingOptions options{.servers_min = below(random, 2),
                               .servers_max = 2 + below(random, 5),
                               .budget_usd = 1.0 + below(random, 40),
                               .budget_usd_per_hour = 5.0 + below(random, 40)};
    AutoscalingView view = view_of_two_zones();
    int made = 0;
    for (int step = 0; step < 60; ++step) {
      view.waiting.clear();
      for (int job = below(random, 5); job > 0; --job) {
        view.waiting.push_back({.gpus = 1 + below(random, 9)});
      }
      const AutoscalingPlan plan = plan_servers(view, options);
      for (const auto& stop : plan.stop) {
        const auto found = std::ranges::find(view.held, stop.server, &HeldServer::name);
        ASSERT_NE(found, view.held.end()) << seed;
        ASSERT_FALSE(found->leaving) << seed;
        view.ended_cost_usd += found->cost_usd + found->offer.price_usd_per_hour / 30;
        view.held.erase(found);
      }
      for (const auto& created : plan.create) {
        for (int i = 0; i < created.count; ++i) {
          view.held.push_back(held(("s" + std::to_string(++made)).c_str(), created.offer, 4));
        }
      }
      double rate = 0;
      double spent = view.ended_cost_usd;
      const Duration passed = std::min<Duration>(minutes(1), plan.wake_at - view.now);
      for (HeldServer& server : view.held) {
        rate += server.offer.price_usd_per_hour;
        server.cost_usd += server.offer.price_usd_per_hour * seconds(passed) / 3600;
        spent += server.cost_usd;
        server.idle_since = below(random, 3) == 0 ? view.now - minutes(9) : kNever;
      }
      ASSERT_LE(static_cast<int>(view.held.size()), options.servers_max) << seed;
      ASSERT_LE(rate, options.budget_usd_per_hour + 1e-9) << seed;
      ASSERT_LE(spent, options.budget_usd + 1e-9) << seed << " step " << step;
      view.now += passed;
    }
  }
}

}  // namespace
}  // namespace orrery
