#include "training/mode_selection/scoring/ring_costs.h"

#include <gtest/gtest.h>

#include "training/sync/ring_sum.h"

namespace orrery {
namespace {

IterationSample task(int worker, double took_s, Usage usage) {
  return {.worker = WorkerId(worker), .took = from_seconds(took_s), .samples = 100, .usage = usage};
}

// 1 is the child of 0; 2 is in the ring and has none.
const Mode kMode{.rule = SyncRuleKind::Ring,
                 .ring = {WorkerId(0), WorkerId(2)},
                 .parents = {{WorkerId(1), WorkerId(0)}}};

TEST(RingCosts, AChildsWaitingIsNoPartOfItsTask) {
  RingCosts costs;
  IterationBook book;
  const Usage use{.cpu_share = 0.1, .throttled_share = 0.4, .way_s = 0.01};
  for (int worker = 0; worker < 3; ++worker) book.add(task(worker, 0.2, use));
  const IterationSample own = costs.own_part(task(1, 0.2, use), kMode, book);
  EXPECT_NEAR(seconds(own.took), 0.1, 1e-9);
  EXPECT_NEAR(own.usage.cpu_share + own.usage.throttled_share, 1, 1e-9);
  // Whose use is not known: both ways over the link and a quarter of the parent's 0.2 s.
  const IterationSample guessed = costs.own_part(task(1, 0.2, {.way_s = 0.01}), kMode, book);
  EXPECT_NEAR(seconds(guessed.took), 0.2 - 0.02 - 0.05, 1e-9);
}

TEST(RingCosts, WhatAParentDoesForItsChildrenIsNoPartOfItsTask) {
  RingCosts costs;
  const IterationBook book;
  for (int i = 0; i < 2; ++i) costs.add_sum(std::chrono::milliseconds(1));
  const IterationSample same = costs.own_part(task(2, 0.1, {.cpu_share = 0.05}), kMode, book);
  EXPECT_NEAR(seconds(same.took), 0.1, 1e-9);
  // 10 ms of CPU where the others need 5.
  const IterationSample parent = costs.own_part(task(0, 0.2, {.cpu_share = 0.05}), kMode, book);
  EXPECT_NEAR(seconds(parent.took), 0.1, 1e-9);
  // Slow, but not by what it computes: a straggler all the same.
  const IterationSample slow = costs.own_part(task(0, 0.4, {.cpu_share = 0.0125}), kMode, book);
  EXPECT_NEAR(seconds(slow.took), 0.4, 1e-9);
}

TEST(RingCosts, WaitingForOthersOfANewRingIsNoPartOfATask) {
  RingCosts costs;
  const IterationBook book;
  const Usage use{.cpu_share = 0.05, .throttled_share = 0.15};
  costs.add_sum(std::chrono::milliseconds(100));  // into which those tasks went
  EXPECT_NEAR(seconds(costs.own_part(task(2, 2, use), kMode, book).took), 0.4, 1e-9);
  EXPECT_EQ(seconds(costs.own_part(task(2, 2, {}), kMode, book).took), 0) << "not known";
  costs.add_sum(std::chrono::milliseconds(100));
  EXPECT_NEAR(seconds(costs.own_part(task(2, 2, use), kMode, book).took), 2, 1e-9);
  costs.formed();
  EXPECT_NEAR(seconds(costs.own_part(task(2, 2, use), kMode, book).took), 0.4, 1e-9);
}

TEST(RingCosts, UntilMoreIsKnownTheShorterOfTheFirstSumsStands) {
  RingCosts costs;
  const SumMembers two{.members = 2};
  const auto message_after = [&](int sum_ms) {
    costs.add_sum(std::chrono::milliseconds(sum_ms));
    return costs.message_s(two) * messages_of_sum(2);
  };
  EXPECT_NEAR(message_after(300), 0.3, 1e-9);
  EXPECT_NEAR(message_after(200), 0.2, 1e-9);
  EXPECT_NEAR(message_after(100), 0.1, 1e-9) << "which is the first that counts";
  costs.formed();
  for (int i = 0; i < 3; ++i) EXPECT_NEAR(message_after(50), 0.1, 1e-9) << "as many stand against";
  EXPECT_NEAR(message_after(50), 0.05, 1e-9);
}

TEST(RingCosts, AMessageIsWhatBytesAndSlownessLeaveOfASum) {
  RingCosts costs;
  const SumMembers all{.members = 8, .slowest_way_s = 0.02, .slowness = 4};
  for (int i = 0; i < 2; ++i) costs.add_sum(std::chrono::seconds(9));  // they have only just met
  EXPECT_FALSE(costs.knows_sums());
  for (int i = 0; i < 10; ++i) costs.add_sum(from_seconds(ring_sum_s(8, 0.02, 4 * 0.003)));
  EXPECT_TRUE(costs.knows_sums());
  EXPECT_NEAR(costs.message_s(all), 0.003, 1e-9);
  costs.formed();
  EXPECT_NEAR(costs.message_s({.members = 4}), 0.003, 1e-9) << "until the new ring has had some";
}

}  // namespace
}  // namespace orrery
