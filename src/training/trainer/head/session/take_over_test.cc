#include "training/trainer/head/session/take_over.h"

#include <gtest/gtest.h>

#include "training/trainer/checkpoint/checkpoint_text.h"
#include "training/trainer/transport/wire.h"

namespace orrery {
namespace {

std::string update(ParameterVersion version) {
  ApplyMessage message;
  message.update.version = version;
  message.state = checkpoint_text(
      {.conductor = {.version = version, .next_sample = 10 * version, .samples_done = 8 * version},
       .elapsed_s = 0.5 * static_cast<double>(version)});
  const auto bytes = write_fields(message);
  return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
}

ShardHolding at(ParameterVersion version, int kept) {
  ShardHolding shard{.version = version};
  for (ParameterVersion each = version - kept + 1; each <= version; ++each) {
    shard.updates.push_back(update(each));
  }
  return shard;
}

TEST(TakeOver, GoesOnFromTheNewestVersionAndLosesNothing) {
  const TakeOver decided = take_over(std::vector{at(7, 4), at(7, 4)});
  ASSERT_TRUE(decided.goes_on);
  EXPECT_EQ(decided.state.version, 7);
  EXPECT_EQ(decided.state.samples_done, 56);
  EXPECT_EQ(decided.state.next_sample, 70);
  EXPECT_DOUBLE_EQ(decided.elapsed_s, 3.5);
  EXPECT_TRUE(decided.missing[0].empty());
  EXPECT_TRUE(decided.missing[1].empty());
}

TEST(TakeOver, AShardThatIsBehindMakesTheUpdatesThatOthersHad) {
  const TakeOver decided = take_over(std::vector{at(5, 3), at(7, 4)});
  ASSERT_TRUE(decided.goes_on);
  ASSERT_EQ(decided.missing[0].size(), 2U);
  EXPECT_EQ(decided.missing[0][0].update.version, 6);
  EXPECT_EQ(decided.missing[0][1].update.version, 7);
  EXPECT_TRUE(decided.missing[1].empty());
}

TEST(TakeOver, AShardTooFarBehindMeansACheckpoint) {
  const TakeOver decided = take_over(std::vector{at(2, 1), at(7, 3)});
  EXPECT_FALSE(decided.goes_on);
  EXPECT_EQ(decided.why, "shard 0 is at version 2, and update 3 is not kept");
}

TEST(TakeOver, ANewShardMeansACheckpoint) {
  const TakeOver decided = take_over(std::vector{at(7, 3), ShardHolding{}});
  EXPECT_FALSE(decided.goes_on);
  EXPECT_EQ(decided.why, "shard 1 holds no parameters");
}

TEST(TakeOver, NewShardsAloneAreAFreshStart) {
  const TakeOver decided = take_over(std::vector{ShardHolding{}, ShardHolding{}});
  EXPECT_FALSE(decided.goes_on);
  EXPECT_EQ(decided.why, "");
}

TEST(TakeOver, WithoutAnUpdateSinceTheLoadTheCheckpointIsTheSame) {
  EXPECT_FALSE(take_over(std::vector{ShardHolding{.version = 3}}).goes_on);
}

TEST(TakeOver, DamagedUpdatesMeanACheckpoint) {
  ShardHolding shard = at(7, 2);
  shard.updates.back() = "damaged";
  EXPECT_FALSE(take_over(std::vector{shard}).goes_on);
}

TEST(TakeOver, TasksOfTwoEpochsNeverHaveOneNumber) {
  EXPECT_GT(first_task_of(2), first_task_of(1) + 1'000'000'000);
}

}  // namespace
}  // namespace orrery
