#include "training/sync/intervals.h"

#include <gtest/gtest.h>

#include <array>

namespace orrery {
namespace {

std::vector<double> seven_and(double slow) {
  std::vector<double> times(7, 0.1);
  times.push_back(0.1 * slow);
  return times;
}

struct Row {
  int x;
  double interval_ms, gradients, mean, most;
};
// star.md 2.5: static-x with 3 % jitter, 7 workers at 100 ms and one slower.
void expect_row(double slow, const Row& row) {
  const Pace pace = static_pace(seven_and(slow), row.x, {.jitter = 0.03, .updates = 20000});
  EXPECT_NEAR(pace.interval_s * 1e3, row.interval_ms, 0.006 * row.interval_ms) << row.x;
  EXPECT_NEAR(pace.gradients_per_s, row.gradients, 0.006 * row.gradients) << row.x;
  EXPECT_NEAR(pace.mean_staleness, row.mean, 0.011) << row.x;
  EXPECT_NEAR(pace.most_staleness, row.most, 1 + 0.1 * row.most) << row.x;
}

TEST(Intervals, ReproduceTheTableOfStaticX) {
  for (const Row& row :
       {Row{1, 13.1, 76.6, 6.99, 14}, Row{2, 27.4, 73.0, 3, 6}, Row{4, 60.4, 66.2, 1, 2},
        Row{6, 101.0, 59.4, .33, 1}, Row{7, 103.0, 68.0, .14, 1}, Row{8, 150.1, 53.3, 0, 0}}) {
    expect_row(1.5, row);
  }
  for (const Row& row :
       {Row{1, 13.8, 72.4, 6.99, 31}, Row{2, 30.5, 65.5, 3, 15}, Row{4, 79.0, 50.6, 1, 5},
        Row{6, 101.5, 59.1, .33, 4}, Row{7, 103.6, 67.6, .14, 4}, Row{8, 400.4, 20.0, 0, 0}}) {
    expect_row(4, row);
  }
  for (const Row& row :
       {Row{1, 14.1, 70.9, 6.99, 75}, Row{2, 31.9, 62.8, 3, 33}, Row{4, 88.9, 45.0, 1, 11},
        Row{6, 101.7, 59.0, .33, 11}, Row{7, 103.8, 67.4, .14, 10}, Row{8, 1000.9, 8.0, 0, 0}}) {
    expect_row(10, row);
  }
}

TEST(Intervals, AreExactForAllAndForOne) {
  const std::vector<double> times{0.1, 0.2, 0.4};
  EXPECT_DOUBLE_EQ(static_pace(times, 0).interval_s, 0.4);
  EXPECT_DOUBLE_EQ(static_pace(times, 3).gradients_per_s, 7.5);
  const Pace one = static_pace(times, 1);
  EXPECT_DOUBLE_EQ(one.gradients_per_s, 17.5);
  EXPECT_DOUBLE_EQ(one.shares[2], 2.5 / 17.5);
  EXPECT_DOUBLE_EQ(one.mean_staleness, 2);
}

TEST(Intervals, OfGroupsFollowFromTheirSlowest) {
  const std::vector<double> times{0.1, 0.08, 0.4};
  const std::vector<std::vector<std::size_t>> groups{{0, 1}, {2}};
  const Pace pace = dynamic_pace(times, groups);
  EXPECT_DOUBLE_EQ(pace.interval_s, 1 / 12.5);
  EXPECT_DOUBLE_EQ(pace.gradients_per_s, 22.5);
  // The fast group waits for 0.25 updates of the other in its 0.1 s, the slow one for 4.
  EXPECT_NEAR(pace.mean_staleness, (20 * 0.25 + 2.5 * 4) / 22.5, 1e-12);
  EXPECT_DOUBLE_EQ(pace.shares[0], 10 / 22.5);
}

TEST(Intervals, OfSspAreTheSlowestsInTheEnd) {
  const std::vector<double> times{0.1, 0.1, 0.4};
  EXPECT_NEAR(ssp_pace(times, 0).gradients_per_s, 7.5, 0.1);
  EXPECT_NEAR(ssp_pace(times, 3).gradients_per_s, 7.5, 0.1);
  EXPECT_NEAR(ssp_pace(times, 1000, {.updates = 300}).gradients_per_s, 22.5, 0.3);
}

TEST(Intervals, OfARingWithAChildAreTheRings) {
  const std::vector<double> times{0.1, 0.09, 0.35};
  const std::array<char, 3> in_ring{1, 1, 0};
  const Pace pace = ring_pace(times, in_ring);
  EXPECT_NEAR(pace.interval_s, 0.1, 1e-9);
  EXPECT_NEAR(pace.gradients_per_s, 20 + 1 / 0.35, 0.01) << "the child waits for no worker";
  EXPECT_EQ(pace.most_staleness, 4);
}

TEST(Intervals, NoWorkerStartsWhileARingSums) {
  const std::array<char, 3> in_ring{1, 1, 0};
  const auto gradients = [&](double child_s) {
    const std::vector<double> times{0.1, 0.09, child_s};
    const Pace pace = ring_pace(times, in_ring, {.sum_s = 0.1});
    EXPECT_NEAR(pace.interval_s, 0.2, 1e-9);
    return pace.gradients_per_s - 10;
  };
  EXPECT_NEAR(gradients(0.15), 5, 0.01) << "it comes during every sum";
  EXPECT_NEAR(gradients(0.25), 3.75, 0.01) << "two are in time, the third has to wait for 50 ms";
  EXPECT_NEAR(gradients(0.06), 7.5, 0.01) << "one and two alternate";
  EXPECT_NEAR(gradients(0.01), 10, 0.01) << "no more than two are kept";
}

TEST(Intervals, OfLgcAreThoseOfTheKthAndTheLateCountInParts) {
  const std::vector<double> times{0.1, 0.1, 0.1, 0.4};
  const Pace pace = lgc_pace(times, 3, {.blocks = 4});
  EXPECT_NEAR(pace.interval_s, 0.1, 1e-9);
  // One block of four is done when the cut comes.
  EXPECT_NEAR(pace.gradients_per_s, 30 + 2.5, 0.1);
  EXPECT_EQ(pace.most_staleness, 1);
}

TEST(Intervals, AModeIsReadByItsWorkers) {
  const std::vector<WorkerId> workers{WorkerId{3}, WorkerId{5}, WorkerId{9}};
  const std::vector<double> times{0.1, 0.4, 0.1};
  const auto interval = [&](const Mode& mode) {
    return predict_pace(mode, workers, times).interval_s;
  };
  EXPECT_DOUBLE_EQ(interval({}), 0.4);
  EXPECT_NEAR(interval({.rule = SyncRuleKind::Ring, .ring = {WorkerId{3}, WorkerId{9}}}), 0.1,
              1e-9);
  EXPECT_NEAR(interval({.rule = SyncRuleKind::Ring}), 0.4, 1e-9);
  EXPECT_DOUBLE_EQ(
      interval({.rule = SyncRuleKind::Dynamic, .groups = {{WorkerId{9}, WorkerId{3}}}}), 1 / 12.5);
  EXPECT_DOUBLE_EQ(interval({.rule = SyncRuleKind::ZenoPlus}), 1 / 22.5);
}

}  // namespace
}  // namespace orrery
