#include "training/sync/samples.h"

#include <gtest/gtest.h>

#include "base/random.h"

namespace orrery {
namespace {

using Batches = std::vector<std::int32_t>;

Membership membership_of(int workers) {
  Membership membership;
  for (int i = 0; i < workers; ++i) membership.add(WorkerId{i});
  return membership;
}

Batches batches(const Membership& membership) {
  Batches all;
  for (const int seat : membership.seats()) all.push_back(membership[seat].batch);
  return all;
}

TEST(SplitBatch, IsEqualWithTheRemainderToTheFirst) {
  Membership membership = membership_of(3);
  split_batch(11, 1, {}, membership);
  EXPECT_EQ(batches(membership), (Batches{4, 4, 3}));
}

TEST(SplitBatch, FollowsTheSharesAndGivesAnEqualPartToAWorkerNotNamed) {
  Membership membership = membership_of(4);
  const std::vector<std::pair<WorkerId, double>> shares{{WorkerId{0}, 0.5}, {WorkerId{3}, 0.0}};
  split_batch(64, 1, shares, membership);
  // 1/2 : 1/4 : 1/4 : 0, where each worker has one to begin with.
  EXPECT_EQ(batches(membership), (Batches{31, 16, 16, 1}));
}

TEST(SplitBatch, NeverGoesBelowTheLeast) {
  Membership membership = membership_of(3);
  const std::vector<std::pair<WorkerId, double>> shares{{WorkerId{1}, 1e-9}};
  split_batch(30, 4, shares, membership);
  EXPECT_EQ(batches(membership), (Batches{13, 4, 13}));
  split_batch(10, 4, shares, membership);
  EXPECT_EQ(batches(membership), (Batches{4, 4, 4})) << "more than the global batch if need be";
}

TEST(SplitBatch, LeavesOutARetiringWorker) {
  Membership membership = membership_of(3);
  membership[0].retiring = true;
  split_batch(12, 1, {}, membership);
  EXPECT_EQ(membership[1].batch, 6);
  EXPECT_EQ(membership[2].batch, 6);
}

TEST(SplitBatch, AddsUpWhateverTheShares) {
  Random random(5);
  for (int round = 0; round < 500; ++round) {
    Membership membership = membership_of(static_cast<int>(random.between(1, 20)));
    std::vector<std::pair<WorkerId, double>> shares;
    for (std::int64_t i = random.between(0, 25); i > 0; --i) {
      shares.emplace_back(WorkerId{static_cast<int>(random.between(-1, 21))},
                          random.uniform() < 0.1 ? 0.0 / 0.0 : random.uniform() - 0.2);
    }
    const auto least = static_cast<std::int32_t>(random.between(1, 4));
    const auto global = static_cast<std::int32_t>(random.between(least * membership.size(), 300));
    split_batch(global, least, shares, membership);
    std::int64_t sum = 0;
    for (const std::int32_t batch : batches(membership)) {
      EXPECT_GE(batch, least);
      sum += batch;
    }
    EXPECT_EQ(sum, global);
  }
}

TEST(SampleCursor, HandsOutWhatWasLostFirst) {
  SampleCursor cursor(100, {{40, 5}});
  cursor.give_back({10, 4});
  cursor.give_back({14, 4});
  cursor.give_back({0, 0});
  ASSERT_EQ(cursor.again().size(), 2u) << "what touches is one";
  const auto take = [&](std::int32_t count) {
    const Samples samples = cursor.take(count);
    return std::pair(samples.first, samples.count);
  };
  using Got = std::pair<std::int64_t, std::int32_t>;
  EXPECT_EQ(take(6), (Got{10, 6}));
  EXPECT_EQ(take(6), (Got{16, 2}));
  EXPECT_EQ(take(6), (Got{40, 5}));
  EXPECT_EQ(take(6), (Got{100, 6}));
  EXPECT_EQ(cursor.next(), 106);
}

}  // namespace
}  // namespace orrery
