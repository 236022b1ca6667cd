#include "training/mode_selection/stragglers/iteration_book.h"

#include <gtest/gtest.h>

#include <numeric>

#include "base/random.h"

namespace orrery {
namespace {

IterationSample task(int worker, int samples, double took_s, Usage usage = {}) {
  return {
      .worker = WorkerId(worker), .took = from_seconds(took_s), .samples = samples, .usage = usage};
}

TEST(IterationBook, OneOutlierMovesNothing) {
  IterationBook book;
  for (int i = 0; i < 10; ++i) book.add(task(0, 32, 0.1));
  const TaskCost before = book.records()[0].cost;
  book.add(task(0, 32, 1.0));
  EXPECT_NEAR(book.records()[0].cost.at(32), before.at(32), 1e-9);
  book.add(task(0, 32, 0.1));
  EXPECT_NEAR(book.records()[0].cost.at(32), before.at(32), 1e-9);
}

TEST(IterationBook, AnotherSpeedIsTakenOverAtOnce) {
  IterationBook book;
  for (int i = 0; i < 10; ++i) book.add(task(0, 32, 0.1));
  for (int i = 0; i < 2; ++i) book.add(task(0, 32, 0.4));
  EXPECT_NEAR(book.records()[0].cost.at(32), 0.4, 1e-6);
}

TEST(IterationBook, TheFirstTaskIsForgotten) {
  IterationBook book;
  book.add(task(0, 32, 1.0));
  EXPECT_NEAR(book.records()[0].cost.at(32), 1.0, 1e-9);
  book.add(task(0, 32, 0.1));
  EXPECT_NEAR(book.records()[0].cost.at(32), 0.1, 1e-9);
}

TEST(IterationBook, WithoutKnownUseEverythingCountsAsComputing) {
  IterationBook book;
  book.add(task(0, 32, 0.32));
  EXPECT_NEAR(book.records()[0].cost.fixed_s, 0, 1e-12);
  EXPECT_NEAR(book.records()[0].cost.per_sample_s, 0.01, 1e-12);
}

TEST(IterationBook, TimeNeitherComputedNorThrottledIsFixed) {
  IterationBook book;
  book.add(task(0, 32, 0.4, {.cpu_share = 0.05, .throttled_share = 0.20}));
  EXPECT_NEAR(book.records()[0].cost.fixed_s, 0.3, 1e-9);
  EXPECT_NEAR(book.records()[0].cost.at(32), 0.4, 1e-9);
}

TEST(IterationBook, BatchesOfDifferentSizeShowTheFixedPart) {
  IterationBook book;
  Random random(3);
  for (int i = 0; i < 60; ++i) {
    const int batch = i % 20 < 10 ? 32 : 16;
    book.add(task(0, batch, (0.2 + 0.005 * batch) * (1 + 0.01 * random.normal())));
  }
  EXPECT_NEAR(book.records()[0].cost.fixed_s, 0.2, 0.03);
  EXPECT_NEAR(book.records()[0].cost.per_sample_s, 0.005, 0.001);
}

TEST(IterationBook, AnotherSpeedIsSplitByItself) {
  IterationBook book;
  for (int i = 0; i < 60; ++i) {
    const int batch = i % 20 < 10 ? 32 : 16;
    book.add(task(0, batch, 0.2 + 0.005 * batch));
  }
  EXPECT_GT(book.records()[0].cost.fixed_s, 0.15);
  // The link has recovered.
  for (int i = 0; i < 5; ++i) book.add(task(0, 16, 0.08));
  EXPECT_NEAR(book.records()[0].cost.fixed_s, 0, 1e-9);
}

TEST(IterationBook, BecomingSlowAndGettingASmallerBatchIsNoFixedPart) {
  IterationBook book;
  for (int i = 0; i < 30; ++i) book.add(task(0, 32, 0.1));
  for (int i = 0; i < 5; ++i) book.add(task(0, 32, 0.4));
  for (int i = 0; i < 5; ++i) book.add(task(0, 8, 0.1));
  EXPECT_NEAR(book.records()[0].cost.fixed_s, 0, 0.005);
  EXPECT_NEAR(book.records()[0].cost.at(32), 0.4, 0.02);
}

TEST(IterationBook, WorkersAreKeptInOrderAndForgottenWhenTheyLeave) {
  IterationBook book;
  for (const int worker : {5, 1, 3}) book.add(task(worker, 8, 0.1 * worker));
  ASSERT_EQ(book.records().size(), 3u);
  EXPECT_EQ(book.records()[1].history.worker, WorkerId(3));
  const std::vector<WorkerId> stay = {WorkerId(1), WorkerId(5)};
  book.keep_only(stay);
  ASSERT_EQ(book.records().size(), 2u);
  EXPECT_EQ(book.find(WorkerId(3)), nullptr);
  EXPECT_NEAR(book.find(WorkerId(5))->cost.at(8), 0.5, 1e-9);
}

TEST(IterationBook, HistoriesStayBounded) {
  IterationBook book;
  for (int i = 0; i < 2000; ++i) book.add(task(0, 8, 0.1));
  EXPECT_LE(book.records()[0].history.samples.size(), 2u * WorkerRecord::kHistoryKept);
  EXPECT_EQ(book.records()[0].tasks, 2000);
}

TEST(BalancedBatches, AllWorkersEndTogether) {
  const std::vector<TaskCost> costs = {{0, 0.01}, {0, 0.01}, {0, 0.04}};
  const std::vector<double> batches = balanced_batches(costs, 90, {});
  EXPECT_NEAR(batches[0], 40, 1e-6);
  EXPECT_NEAR(batches[2], 10, 1e-6);
}

TEST(BalancedBatches, AFixedPartLeavesLessForSamples) {
  const std::vector<TaskCost> costs = {{0.1, 0.01}, {0.3, 0.01}};
  const std::vector<double> batches = balanced_batches(costs, 60, {});
  EXPECT_NEAR(costs[0].at(batches[0]), costs[1].at(batches[1]), 1e-6);
  EXPECT_NEAR(batches[0], 40, 1e-6);
  const std::vector<double> by_speed = balanced_batches(costs, 60, {}, false);
  EXPECT_NEAR(by_speed[0] / by_speed[1], 0.31 / 0.11, 1e-6);
}

TEST(BalancedBatches, NoOtherSplitHasAShorterLongestTask) {
  Random random(11);
  for (int round = 0; round < 50; ++round) {
    std::vector<TaskCost> costs;
    for (int i = 0; i < 5; ++i) {
      costs.push_back({.fixed_s = 0.1 * random.uniform(), .per_sample_s = 0.02 * random.uniform()});
    }
    const std::vector<double> batches = balanced_batches(costs, 100, {.least = 0});
    EXPECT_NEAR(std::accumulate(batches.begin(), batches.end(), 0.0), 100, 1e-6);
    double longest = 0;
    for (std::size_t i = 0; i < costs.size(); ++i) {
      if (batches[i] > 1e-9) longest = std::max(longest, costs[i].at(batches[i]));
    }
    for (int other = 0; other < 200; ++other) {
      std::vector<double> moved = batches;
      const auto from = static_cast<std::size_t>(random.between(0, 4));
      const auto to = static_cast<std::size_t>(random.between(0, 4));
      const double amount = moved[from] * random.uniform();
      moved[from] -= amount;
      moved[to] += amount;
      double its_longest = 0;
      for (std::size_t i = 0; i < costs.size(); ++i) {
        if (moved[i] > 1e-9) its_longest = std::max(its_longest, costs[i].at(moved[i]));
      }
      EXPECT_GE(its_longest, longest * (1 - 1e-6));
    }
  }
}

TEST(BalancedBatches, NoWorkerGetsLessThanTheLeast) {
  const std::vector<TaskCost> costs = {{0, 0.001}, {5, 0.001}};
  const std::vector<double> batches = balanced_batches(costs, 64, {.least = 4});
  EXPECT_NEAR(batches[1], 4, 1e-6);
  EXPECT_NEAR(batches[0], 60, 1e-6);
}

TEST(BalancedBatches, NoWorkerGetsMoreThanTheMost) {
  const std::vector<TaskCost> costs{{0.02, 1e-6}, {0.01, 5e-4}, {0.01, 5e-4}, {0.01, 5e-4}};
  const std::vector<double> batches = balanced_batches(costs, 512, {.most = 256});
  EXPECT_NEAR(batches[0], 256, 1e-6);
  EXPECT_NEAR(batches[1], 256.0 / 3, 1e-6);
}

}  // namespace
}  // namespace orrery
