#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <numeric>

#include "training/trainer/shard/flat_math.h"
#include "training/trainer/shard/flat_optimizer.h"
#include "training/trainer/shard/shard_layout.h"
#include "training/trainer/shard/shard_store.h"

namespace orrery {
namespace {

TEST(FlatMath, ANormIsFiniteOnlyIfEveryNumberIs) {
  std::vector<float> values(1001, std::numeric_limits<float>::max());
  EXPECT_TRUE(std::isfinite(norm2(values)));
  for (const float bad : {std::nanf(""), std::numeric_limits<float>::infinity()}) {
    for (const std::size_t at : {std::size_t{0}, std::size_t{500}, std::size_t{1000}}) {
      auto spoiled = values;
      spoiled[at] = bad;
      EXPECT_FALSE(std::isfinite(norm2(spoiled)));
    }
  }
}

TEST(FlatOptimizer, PlainStepsGoAgainstTheGradient) {
  std::vector<float> parameters = {1, 2};
  FlatOptimizer optimizer({}, 2);
  optimizer.step(parameters, std::vector<float>{0.5F, -1}, 0.1);
  EXPECT_FLOAT_EQ(parameters[0], 0.95F);
  EXPECT_FLOAT_EQ(parameters[1], 2.1F);
}

TEST(FlatOptimizer, MomentumAndDecayAreAsTheyAreUsuallyWritten) {
  std::vector<float> parameters = {1};
  FlatOptimizer optimizer({.momentum = 0.9, .weight_decay = 0.1}, 1);
  optimizer.step(parameters, std::vector<float>{1}, 0.1);  // velocity 1.1
  EXPECT_FLOAT_EQ(parameters[0], 0.89F);
  optimizer.step(parameters, std::vector<float>{1}, 0.1);  // 0.99 + 1.089
  EXPECT_FLOAT_EQ(parameters[0], 0.89F - 0.1F * (0.99F + 1.089F));
}

TEST(FlatOptimizer, AdamsFirstStepIsTheRateWhateverTheGradient) {
  std::vector<float> parameters = {0, 0};
  FlatOptimizer optimizer({.kind = "adam"}, 2);
  optimizer.step(parameters, std::vector<float>{100, -0.001F}, 0.01);
  EXPECT_NEAR(parameters[0], -0.01, 1e-6);
  EXPECT_NEAR(parameters[1], 0.01, 1e-6);
}

TEST(FlatOptimizer, GoesOnFromItsSavedStateToTheBit) {
  for (const char* const kind : {"sgd", "adam"}) {
    const OptimizerOptions options{.kind = kind, .momentum = 0.9};
    std::vector<float> one = {1, 2, 3};
    FlatOptimizer first(options, 3);
    first.step(one, std::vector<float>{1, 2, 3}, 0.1);
    std::vector<float> two = one;
    FlatOptimizer second(options, 3);
    std::ranges::copy(first.state(), second.state().begin());
    second.set_batches(first.batches());
    first.step(one, std::vector<float>{3, 2, 1}, 0.1);
    second.step(two, std::vector<float>{3, 2, 1}, 0.1);
    EXPECT_EQ(one, two) << kind;
  }
}

std::vector<TensorPlace> tensors_of(const std::vector<std::int64_t>& counts) {
  std::vector<TensorPlace> tensors;
  std::int64_t first = 0;
  for (const std::int64_t count : counts) {
    tensors.push_back({.name = "t", .first = first, .count = count});
    first += count;
  }
  return tensors;
}

TEST(ShardLayout, TheLargestGoFirstOntoTheLeastLoaded) {
  const auto places = lay_out_shards(tensors_of({10, 50, 30, 30, 5}), 2);
  ASSERT_EQ(places.size(), 2U);
  EXPECT_EQ(places[0].count(), 65);        // 50, 10, 5
  EXPECT_EQ(places[1].count(), 60);        // 30, 30
  EXPECT_EQ(places[1].ranges.size(), 1U);  // neighbours are joined
}

TEST(ShardLayout, EveryNumberIsInOnePiece) {
  const auto places = lay_out_shards(tensors_of({3, 9, 4, 1, 7, 7}), 3);
  std::vector<float> flat(31);
  std::iota(flat.begin(), flat.end(), 1.0F);
  std::vector<float> back(31);
  std::size_t sum = 0;
  for (const ShardPlace& place : places) {
    const auto piece = gather(flat, place);
    sum += piece.size();
    scatter(piece, place, back);
  }
  EXPECT_EQ(sum, flat.size());
  EXPECT_EQ(back, flat);
}

TEST(ShardLayout, ThereAreNoMoreShardsThanTensors) {
  EXPECT_EQ(lay_out_shards(tensors_of({4, 4}), 5).size(), 2U);
}

ApplyMessage update_of(ParameterVersion version, std::vector<Term> terms) {
  ApplyMessage message{.update = {.version = version, .rate = 1, .terms = std::move(terms)}};
  message.fresh.assign(message.update.terms.size(), 1);
  return message;
}

TEST(ShardStore, PiecesOfTheWrongShapeOrNotFiniteAreNotKept) {
  ShardStore store(2, {});
  std::vector<float> shorter = {1};
  std::vector<float> spoiled = {1, std::nanf("")};
  EXPECT_NE(store.keep(1, shorter).fault, "");
  EXPECT_NE(store.keep(2, spoiled).fault, "");
  EXPECT_EQ(store.held(), 0U);
  EXPECT_FALSE(store.apply(update_of(1, {{1, 1.0}})).ok());
}

TEST(ShardStore, AnUpdateUsesItsTermsOnceAndSaysHowLargeTheirMeanIs) {
  ShardStore store(2, {});
  std::vector<float> a = {1, 0}, b = {0, 1}, c = {5, 5};
  EXPECT_EQ(store.keep(1, a).norm2, 1.0);
  store.keep(2, b);
  store.keep(3, c);
  const auto mean = store.apply(update_of(1, {{1, 0.5}, {2, 0.5}}));
  ASSERT_TRUE(mean.ok());
  EXPECT_DOUBLE_EQ(mean.value(), 0.5);
  EXPECT_EQ(*store.parameters(), (std::vector<float>{-0.5F, -0.5F}));
  EXPECT_EQ(store.held(), 1U);
  EXPECT_FALSE(store.apply(update_of(2, {{1, 0.5}})).ok());
}

TEST(ShardStore, WhatWasSharedOutDoesNotChange) {
  ShardStore store(1, {});
  const auto before = store.parameters();
  std::vector<float> gradient = {1};
  store.keep(1, gradient);
  ASSERT_TRUE(store.apply(update_of(1, {{1, 1.0}})).ok());
  EXPECT_EQ(before->front(), 0.0F);
  EXPECT_EQ(store.parameters()->front(), -1.0F);
}

TEST(ShardStore, ARingThatBreaksChangesNothing) {
  ShardStore store(1, {});
  std::vector<float> gradient = {1};
  store.keep(1, gradient);
  const auto broken = [](std::span<float>) -> Status { return Error{Code::Unavailable, "gone"}; };
  EXPECT_FALSE(store.apply_in_ring(update_of(1, {{1, 1.0}}), broken).ok());
  EXPECT_EQ(store.version(), 0);
  EXPECT_EQ(store.held(), 1U);
  const auto whole = [](std::span<float> sum) -> Status {
    sum[0] += 2;
    return {};
  };
  EXPECT_TRUE(store.apply_in_ring(update_of(1, {{1, 1.0}, {2, 1.0}}), whole).ok());
  EXPECT_EQ(store.parameters()->front(), -3.0F);
}

}  // namespace
}  // namespace orrery
