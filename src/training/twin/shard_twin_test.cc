#include "training/twin/shard_twin.h"

#include <gtest/gtest.h>

namespace orrery {
namespace {

Time at(double time_s) { return time_from_seconds(time_s); }

constexpr auto kAll = [](int, std::int64_t) { return true; };

TEST(ShardTwin, GradientsAreHandledOneAfterTheOther) {
  ShardTwin shards({.gradient_s = 0.1});
  EXPECT_FALSE(shards.handle_next(at(0), kAll));
  shards.arrive(3, 7);
  shards.arrive(1, 8);
  const auto first = shards.handle_next(at(0), kAll);
  ASSERT_TRUE(first);
  EXPECT_EQ(first->worker, 3);
  EXPECT_EQ(first->task, 7);
  EXPECT_EQ(first->ends, at(0.1));
  EXPECT_FALSE(shards.handle_next(at(0.05), kAll)) << "one at a time";
  shards.handled();
  EXPECT_EQ(shards.handle_next(at(0.2), kAll)->worker, 1);
}

TEST(ShardTwin, GradientsThatNoWorkerSendsAnyMoreAreLeftOut) {
  ShardTwin shards({.gradient_s = 0.1});
  shards.arrive(3, 7);
  shards.arrive(1, 8);
  const auto of_one = [](int worker, std::int64_t) { return worker == 1; };
  EXPECT_EQ(shards.handle_next(at(0), of_one)->task, 8);
}

TEST(ShardTwin, AnUpdateComesBeforeTheNextGradient) {
  ShardTwin shards({.gradient_s = 0.1, .update_s = 0.3});
  shards.make_update(at(1));
  shards.make_update(at(1.1));
  EXPECT_EQ(shards.updates_end(at(1.2)), at(1.6));
  EXPECT_EQ(shards.updates_end(at(2)), at(2));
  shards.arrive(0, 1);
  EXPECT_EQ(shards.handle_next(at(1.2), kAll)->ends, at(1.7));
}

TEST(ShardTwin, HalfTheCpuTakesTwiceAsLong) {
  ShardTwin shards({.gradient_s = 0.1, .update_s = 0.3});
  shards.set_cpu(0.5);
  shards.make_update(at(0));
  EXPECT_EQ(shards.updates_end(at(0)), at(0.6));
}

TEST(ShardTwin, GradientsWithoutWorkAreTakenAtOnceUnlessAnUpdateIsMade) {
  ShardTwin shards({.update_s = 0.3});
  EXPECT_TRUE(shards.takes_at_once(at(0)));
  shards.make_update(at(0));
  EXPECT_FALSE(shards.takes_at_once(at(0.2)));
  EXPECT_TRUE(shards.takes_at_once(at(0.3)));
}

}  // namespace
}  // namespace orrery
