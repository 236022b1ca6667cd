#include "training/libtorch/sample_order.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <set>
#include <vector>

namespace orrery {
namespace {

std::vector<std::int64_t> epoch_of(SampleOrder& order, std::int64_t epoch, std::int64_t samples) {
  std::vector<std::int64_t> found;
  for (std::int64_t i = 0; i < samples; ++i) found.push_back(order.sample_at(epoch * samples + i));
  return found;
}

TEST(SampleOrder, EveryEpochIsAPermutationOfItsOwn) {
  constexpr std::int64_t kSamples = 101;
  SampleOrder order(kSamples, 7);
  std::set<std::vector<std::int64_t>> epochs;
  for (std::int64_t epoch = 0; epoch < 20; ++epoch) {
    auto found = epoch_of(order, epoch, kSamples);
    epochs.insert(found);
    std::sort(found.begin(), found.end());
    for (std::int64_t i = 0; i < kSamples; ++i) {
      ASSERT_EQ(found[static_cast<std::size_t>(i)], i) << "epoch " << epoch;
    }
  }
  EXPECT_EQ(epochs.size(), 20U);
}

TEST(SampleOrder, DependsOnSeedAndPositionAlone) {
  SampleOrder forwards(50, 3), backwards(50, 3), other(50, 4);
  std::vector<std::int64_t> one, same(150), different;
  for (std::int64_t i = 0; i < 150; ++i) one.push_back(forwards.sample_at(i));
  for (std::int64_t i = 150; i-- > 0;) {
    same[static_cast<std::size_t>(i)] = backwards.sample_at(i);
  }
  for (std::int64_t i = 0; i < 150; ++i) different.push_back(other.sample_at(i));
  EXPECT_EQ(one, same);
  EXPECT_NE(one, different);
}

TEST(SampleOrder, OneSampleIsAlwaysNext) {
  SampleOrder order(1, 1);
  EXPECT_EQ(order.sample_at(1'000'000'000'000), 0);
}

}  // namespace
}  // namespace orrery
