#include "report/series.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <numeric>

#include "report/test_run.h"

namespace orrery {
namespace {

using enum EventKind;

Series series_of(const TestRun& run, SeriesOptions options) {
  SeriesRecorder recorder(options);
  run.send(recorder);
  return recorder.series();
}

double mean(const std::vector<double>& values) {
  return std::accumulate(values.begin(), values.end(), 0.0) / double(values.size());
}

TEST(TimeMeans, AShortPeakWeighsWhatItLasted) {
  TimeMeans means(time_from_seconds(100), 1);
  means.set(0, 8);
  means.advance(time_from_seconds(101));
  means.set(0, 0);
  means.advance(time_from_seconds(100 + 8192));
  const auto values = means.means(0);
  const double width_s = seconds(means.width());
  EXPECT_GT(values.size(), TimeMeans::kBucketsMax / 2 - 1);
  EXPECT_LE(values.size(), TimeMeans::kBucketsMax);
  EXPECT_NEAR(values[0], 8 / width_s, 1e-9);
  EXPECT_EQ(values[1], 0);
}

TEST(TimeMeans, TheIntegralSurvivesAnyNumberOfDoublings) {
  TimeMeans means(Time{}, 2);
  double expected = 0;
  for (int step = 0; step < 5000; ++step) {
    const double level = step % 7;
    means.set(1, level);
    expected += level * (step + 1);
    means.advance(time_from_seconds((step + 1.0) * (step + 2) / 2));
  }
  const auto values = means.means(1);
  const double end_s = 5000.0 * 5001 / 2;
  const double width_s = seconds(means.width());
  double sum = 0;
  for (std::size_t i = 0; i < values.size(); ++i) {
    sum += values[i] * std::min(width_s, end_s - width_s * double(i));
  }
  EXPECT_NEAR(sum / expected, 1, 1e-9);
  EXPECT_EQ(mean(means.means(0)), 0);
}

TEST(SeriesRecorder, QueueAndGpusFollowTheEvents) {
  TestRun run(2, 4);
  run.submit(0, 0, 4);
  run.hold(0, 0, Started, {{NodeId{0}, 0xF}});
  run.submit(0, 1, 2);
  run.hold(50, 1, Started, {{NodeId{1}, 0x3}});
  run.add(100, 0, Completed);
  run.add(100, 1, Completed);
  const Series series = series_of(run, {.cluster = run.cluster, .workload = &run.workload});
  EXPECT_NEAR(mean(series.waiting), 0.5, 0.01);
  EXPECT_NEAR(mean(series.gpus_held), 5, 0.02);
  ASSERT_EQ(series.rows.size(), 2u);
  EXPECT_NEAR(mean(series.rows[0].held), 4, 1e-9);
  EXPECT_NEAR(mean(series.rows[1].held), 1, 0.02);
  EXPECT_EQ(series.rows[1].label, "n1");
  ASSERT_EQ(series.spans.size(), 2u);
  EXPECT_EQ(series.spans[1].job, 1);
  EXPECT_EQ(series.spans[1].gpus, 0x3u);
  EXPECT_DOUBLE_EQ(series.spans[1].from_s, 50);
  EXPECT_DOUBLE_EQ(series.spans[1].to_s, 100);
}

TEST(SeriesRecorder, ASharedGpuIsHeldOnceAndARegroupingSplitsNoSpan) {
  TestRun run(1, 2);
  for (const int job : {0, 1}) run.submit(0, job);
  for (const int job : {0, 1}) run.hold(0, job, Started, {{NodeId{0}, 1}}, 0.7);
  run.add(10, 0, Completed);
  run.hold(10, 1, Regrouped, {{NodeId{0}, 1}}, 1);
  run.add(20, 1, Completed);
  const Series series = series_of(run, {.cluster = run.cluster});
  EXPECT_NEAR(mean(series.gpus_held), 1, 1e-9);
  ASSERT_EQ(series.spans.size(), 2u);
  EXPECT_DOUBLE_EQ(series.spans[1].from_s, 0);
}

TEST(SeriesRecorder, ManyNodesShareRowsAndManySpansAreDropped) {
  TestRun run(450, 2);
  for (int job = 0; job < 450; ++job) {
    run.submit(0, job);
    run.hold(0, job, Started, {{NodeId{job}, 1}});
  }
  for (int job = 0; job < 450; ++job) run.add(10, job, Completed);
  const Series all = series_of(run, {.cluster = run.cluster});
  ASSERT_EQ(all.rows.size(), 150u);
  EXPECT_EQ(all.rows[1].label, "n3 to n5");
  EXPECT_EQ(all.rows[1].gpus, 6);
  EXPECT_NEAR(mean(all.rows[149].held), 3, 1e-9);
  EXPECT_TRUE(all.spans.empty()) << "rows of several nodes have no line for a GPU";
  SeriesOptions options{.cluster = run.cluster, .rows_max = 450, .spans_gpus_max = 900};
  EXPECT_EQ(series_of(run, options).spans.size(), 450u);
  options.spans_gpus_max = 899;
  EXPECT_TRUE(series_of(run, options).spans.empty());
  options.spans_gpus_max = 900;
  options.spans_max = 449;
  EXPECT_TRUE(series_of(run, options).spans.empty());
  EXPECT_TRUE(series_of(run, options).jobs.empty());
}

TEST(SeriesRecorder, JobsThatStillRunAreDrawnUpToNow) {
  TestRun run(1, 1);
  run.submit(0, 0);
  run.hold(0, 0, Started, {{NodeId{0}, 1}});
  run.submit(30, 1);
  const Series series = series_of(run, {.cluster = run.cluster});
  ASSERT_EQ(series.spans.size(), 1u);
  EXPECT_DOUBLE_EQ(series.spans[0].to_s, 30);
  EXPECT_NEAR(mean(series.gpus_held), 1, 1e-9);
}

TEST(SeriesRecorder, TheDistributionEndsAtOneAndThinsOutWhenThereAreMany) {
  for (const int jobs : {1, 3, 1000}) {
    TestRun run(1, 1);
    for (int job = 0; job < jobs; ++job) run.submit(0, job);
    for (int job = 0; job < jobs; ++job) {
      run.hold(job, job, Started, {{NodeId{0}, 1}});
      run.add(job + 1, job, Completed);
    }
    const Series series = series_of(run, {.cluster = run.cluster});
    ASSERT_FALSE(series.completion_times.empty());
    EXPECT_LE(series.completion_times.size(), 200u);
    EXPECT_DOUBLE_EQ(series.completion_times.back().fraction, 1);
    EXPECT_DOUBLE_EQ(series.completion_times.back().completion_time_s, jobs);
    for (const auto& point : series.completion_times) {  // the times are 1, 2, ..., jobs
      EXPECT_DOUBLE_EQ(point.fraction, std::floor(point.completion_time_s) / jobs);
    }
  }
}

}  // namespace
}  // namespace orrery
