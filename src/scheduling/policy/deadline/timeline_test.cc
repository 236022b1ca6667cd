#include "scheduling/policy/deadline/timeline.h"

#include <gtest/gtest.h>

#include "base/random.h"

namespace orrery {
namespace {

Time at(double s) { return time_from_seconds(s); }

TEST(Timeline, AStepHoldsUntilTheNextAndTheLastForEver) {
  const SlotTimeline line{{10, 4}, {20, 6}};
  EXPECT_EQ(line.at(10), 4);
  EXPECT_EQ(line.at(19), 4);
  EXPECT_EQ(line.at(20), 6);
  EXPECT_EQ(line.at(1'000'000), 6);
  EXPECT_EQ(line.until(0), 20);
  EXPECT_EQ(line.until(1), SlotTimeline::kEnd);
  EXPECT_EQ(line.next_step(10), 20);
  EXPECT_EQ(line.next_step(20), SlotTimeline::kEnd);
  EXPECT_EQ(Timeline::kEnd, kNever);
}

TEST(Timeline, AppendLeavesOutAStepThatChangesNothing) {
  SlotTimeline line{{0, 4}, {10, 4}, {20, 0}};
  EXPECT_EQ(line.size(), 2U);
  EXPECT_EQ(line.first_use(), 0);
  line.clear();
  line.append(5, 0);
  EXPECT_EQ(line.first_use(), SlotTimeline::kEnd);
  line.append(7, 1);
  EXPECT_EQ(line.first_use(), 7);
}

TEST(Timeline, SetHoldsUntilTheNextStepAndMergeLeavesOutTheRest) {
  SlotTimeline line{{0, 4}, {10, 2}, {20, 4}};
  line.set(5, 3);
  EXPECT_EQ(line, (SlotTimeline{{0, 4}, {5, 3}, {10, 2}, {20, 4}}));
  line.set(5, 4);
  line.set(10, 4);
  line.merge();
  EXPECT_EQ(line, (SlotTimeline{{0, 4}}));
}

TEST(Timeline, WhatIsTakenAndGivenBackLeavesTheSameNumbers) {
  for (std::uint64_t seed = 1; seed <= 200; ++seed) {
    Random random(seed);
    Timeline line;
    line.reset(at(0), 20);
    std::vector<int> taken(30);
    for (int i = 0; i < 8; ++i) {
      const auto from = random.between(0, 25);
      const auto until = random.between(from, 29);
      const int gpus = static_cast<int>(random.between(-3, 3));
      line.take(at(double(from)), at(double(until)), gpus);
      for (auto s = from; s < until; ++s) taken[static_cast<std::size_t>(s)] += gpus;
      int least = 20;
      for (std::size_t s = 0; s < taken.size(); ++s) {
        ASSERT_EQ(line.at(at(double(s) + 0.5)), 20 - taken[s]) << "seed " << seed;
        least = std::min(least, 20 - taken[s]);
      }
      ASSERT_EQ(line.least(at(0), at(30)), least) << "seed " << seed;
    }
  }
}

TEST(Timeline, BuiltAtOnceIsTheSameAsTakenOneByOne) {
  for (std::uint64_t seed = 1; seed <= 300; ++seed) {
    Random random(seed);
    std::vector<Timeline::Taken> taken;
    Timeline one_by_one;
    one_by_one.reset(at(5), 50);
    for (int i = 0; i < 10; ++i) {
      const auto from = random.between(0, 20);
      const auto until = random.uniform() < 0.1 ? kNever : at(double(random.between(from, 25)));
      taken.push_back({at(double(from)), until, static_cast<int>(random.between(1, 4))});
      one_by_one.take(std::max(at(5), taken.back().from), until, taken.back().gpus);
    }
    Timeline at_once;
    at_once.build(at(5), 50, taken);
    for (double s = 5; s < 30; s += 0.5) ASSERT_EQ(at_once.at(at(s)), one_by_one.at(at(s)));
  }
}

}  // namespace
}  // namespace orrery
