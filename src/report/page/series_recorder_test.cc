#include "report/page/series_recorder.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <numeric>

#include "report/metrics/metrics.h"
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
  TimeMeans means(time_from_seconds(100), {});
  means.set(time_from_seconds(100), 0, 8);
  means.set(time_from_seconds(101), 0, 0);
  means.advance(time_from_seconds(100 + 8192));
  const auto values = means.means(0);
  const double width_s = seconds(means.width());
  EXPECT_GT(values.size(), 399u);
  EXPECT_LE(values.size(), 800u);
  EXPECT_NEAR(values[0], 8 / width_s, 1e-9);
  EXPECT_EQ(values[1], 0);
}

TEST(TimeMeans, TheIntegralSurvivesAnyNumberOfDoublings) {
  TimeMeans means(Time{}, {.values = 2});
  double expected = 0;
  for (int step = 0; step < 5000; ++step) {
    const double level = step % 7;
    means.set(time_from_seconds(step * (step + 1.0) / 2), 1, level);
    expected += level * (step + 1);
  }
  means.advance(time_from_seconds(5000.0 * 5001 / 2));
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

TEST(TimeMeans, ASecondOfAPeakIsInTheBoundsHoweverOftenTheBucketsDouble) {
  TimeMeans means(Time{}, {.values = 2, .bounded = 1});
  means.set(Time{}, 0, 3);
  means.set(time_from_seconds(5000), 0, 90);
  means.set(time_from_seconds(5001), 0, 0);
  means.set(time_from_seconds(5002), 0, 3);
  means.advance(time_from_seconds(1e6));
  const TimeMeans::Bounds bounds = means.bounds(0);
  ASSERT_EQ(bounds.low.size(), means.means(0).size());
  const auto peak = static_cast<std::size_t>(5000 / seconds(means.width()));
  for (std::size_t i = 0; i < bounds.low.size(); ++i) {
    EXPECT_EQ(bounds.low[i], i == peak ? 0 : 3) << i;
    EXPECT_EQ(bounds.high[i], i == peak ? 90 : 3) << i;
  }
  EXPECT_LT(means.means(0)[peak], 4) << "the mean hides it";
}

TEST(TimeMeans, ALevelThatLastsForNoTimeIsInNoBound) {
  TimeMeans means(Time{}, {.bounded = 1});
  means.set(Time{}, 0, 1);
  means.set(time_from_seconds(10), 0, 7);
  means.set(time_from_seconds(10), 0, 2);
  means.advance(time_from_seconds(20));
  EXPECT_EQ(std::ranges::max(means.bounds(0).high), 2);
  EXPECT_EQ(std::ranges::min(means.bounds(0).low), 1);
}

TEST(TimeMeans, MeansLieWithinTheirBounds) {
  TimeMeans means(Time{}, {.bounded = 1, .buckets_max = 20});
  for (int step = 0; step < 3000; ++step) {
    means.set(time_from_seconds(step * 1.7), 0, step * 7919 % 13);
  }
  const auto values = means.means(0);
  const TimeMeans::Bounds bounds = means.bounds(0);
  ASSERT_EQ(bounds.high.size(), values.size());
  EXPECT_LE(values.size(), 20u);
  for (std::size_t i = 0; i < values.size(); ++i) {
    EXPECT_LE(bounds.low[i], values[i]);
    EXPECT_GE(bounds.high[i], values[i]);
  }
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
  EXPECT_NEAR(mean(series.waiting.mean), 0.5, 0.01);
  EXPECT_NEAR(mean(series.gpus_held.mean), 5, 0.02);
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

TEST(SeriesRecorder, CpuAndMemoryUseComeToThoseOfTheSummary) {
  TestRun run(2, 4);
  for (Node& node : run.cluster.nodes) {
    node.cpu_milli = 24000;
    node.memory_bytes = 500;
  }
  const auto hold = [&](double at_s, int job, EventKind kind, std::int64_t cpu_milli,
                        std::int64_t memory_bytes) {
    Grant& grant = run.hold(at_s, job, kind, {{NodeId{job}, 0x1}});
    grant.cpu_milli = cpu_milli;
    grant.memory_bytes = memory_bytes;
  };
  run.submit(0, 0);
  run.submit(0, 1);
  hold(0, 0, Started, 12000, 400);
  hold(0, 1, Started, 3000, 100);
  hold(50, 0, Regrouped, 24000, 200);
  run.add(75, 1, Paused);
  hold(90, 1, Resumed, 6000, 100);
  run.add(100, 0, Completed);
  run.add(100, 1, Completed);
  const Series series = series_of(run, {.cluster = run.cluster});
  Metrics metrics({.cluster = run.cluster, .workload = nullptr, .window = {}});
  run.send(metrics);
  EXPECT_NEAR(mean(series.cpu_use.mean), metrics.summary().cpu_utilisation.value(), 0.005);
  EXPECT_NEAR(mean(series.memory_use.mean), metrics.summary().memory_utilisation.value(), 0.005);
  EXPECT_NEAR(series.cpu_use.mean.front(), 15000.0 / 48000, 1e-9);
  EXPECT_NEAR(series.memory_use.mean.front(), 0.5, 1e-9);
}

TEST(SeriesRecorder, CpuAndMemoryUseAreEmptyIfNoJobHoldsAny) {
  TestRun run(1, 4);
  run.cluster.nodes[0].cpu_milli = 24000;
  run.submit(0, 0);
  run.hold(0, 0, Started, {{NodeId{0}, 0x1}});
  run.add(10, 0, Completed);
  const Series series = series_of(run, {.cluster = run.cluster});
  EXPECT_TRUE(series.cpu_use.mean.empty());
  EXPECT_TRUE(series.memory_use.mean.empty());
}

TEST(SeriesRecorder, ASharedGpuIsHeldOnceAndARegroupingSplitsNoSpan) {
  TestRun run(1, 2);
  for (const int job : {0, 1}) run.submit(0, job);
  for (const int job : {0, 1}) run.hold(0, job, Started, {{NodeId{0}, 1}}, 0.7);
  run.add(10, 0, Completed);
  run.hold(10, 1, Regrouped, {{NodeId{0}, 1}}, 1);
  run.add(20, 1, Completed);
  const Series series = series_of(run, {.cluster = run.cluster});
  EXPECT_NEAR(mean(series.gpus_held.mean), 1, 1e-9);
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

TEST(SeriesRecorder, OfManyRunsOnAPageEachHasLess) {
  const Cluster cluster;
  const auto limits = [&](std::size_t runs) { return shared_page({.cluster = cluster}, runs); };
  EXPECT_EQ(limits(6).rows_max, 200u);
  EXPECT_EQ(limits(6).spans_max, 5000u);
  EXPECT_EQ(limits(6).buckets_max, 800u);
  EXPECT_EQ(limits(24).rows_max, 100u);
  EXPECT_EQ(limits(24).spans_max, 1250u);
  EXPECT_EQ(limits(24).buckets_max, 400u);
  EXPECT_EQ(limits(0).spans_max, 5000u);
  EXPECT_EQ(limits(100000).rows_max, 1u);
}

TEST(SeriesRecorder, AShortQueueIsInTheBoundsOfItsBucket) {
  TestRun run(1, 1);
  run.submit(0, 0);
  run.hold(0, 0, Started, {{NodeId{0}, 1}});
  run.submit(500, 1);
  run.add(501, 1, Rejected);
  run.add(1e6, 0, Completed);
  const Series series = series_of(run, {.cluster = run.cluster, .buckets_max = 20});
  EXPECT_LE(series.waiting.mean.size(), 20u);
  ASSERT_EQ(series.waiting.high.size(), series.waiting.mean.size());
  EXPECT_EQ(series.waiting.high[0], 1);
  EXPECT_EQ(series.waiting.low[0], 0);
  EXPECT_EQ(series.waiting.high[1], 0);
  EXPECT_EQ(series.gpus_held.low[0], 1);
}

TEST(SeriesRecorder, JobsThatStillRunAreDrawnUpToNow) {
  TestRun run(1, 1);
  run.submit(0, 0);
  run.hold(0, 0, Started, {{NodeId{0}, 1}});
  run.submit(30, 1);
  const Series series = series_of(run, {.cluster = run.cluster});
  ASSERT_EQ(series.spans.size(), 1u);
  EXPECT_DOUBLE_EQ(series.spans[0].to_s, 30);
  EXPECT_NEAR(mean(series.gpus_held.mean), 1, 1e-9);
}

// Job 0 is elastic, is up late after a resize, and is paused before it is up again; job 1 shares
// its GPU and then has other company.
TestRun eventful() {
  TestRun run(2, 4);
  run.workload.curves = {{{{1, 2}, {2, 3}, {4, 4}}, {}}};
  run.submit(0, 0, 4, 100, 0.25).curve = CurveId{0};
  run.submit(0, 1);
  run.hold(0, 0, Started, {{NodeId{0}, 0b0011}}, 0, 3);
  run.hold(2, 1, Started, {{NodeId{1}, 1}}, 0.5).sharing = Sharing::Interleaved;
  run.hold(10, 0, Resized, {{NodeId{0}, 0b1111}}, 0, 17);
  run.hold(20, 1, Regrouped, {{NodeId{1}, 1}}, 1, 2);
  run.add(30, 0, Paused);
  run.hold(40, 0, Resumed, {{NodeId{0}, 0b1111}}, 0, 60);
  run.add(50, 0, Paused);
  run.hold(50, 0, Resumed, {{NodeId{1}, 0b0110}}, 0, 70);
  run.add(90, 1, Completed);
  run.add(100, 0, Completed);
  return run;
}

TEST(SeriesRecorder, EfficiencyOverTimeComesToThatOfTheSummary) {
  const TestRun run = eventful();
  Metrics metrics({.cluster = run.cluster, .workload = &run.workload, .window = {}});
  run.send(metrics);
  const Series series = series_of(run, {.cluster = run.cluster, .workload = &run.workload});
  double sum = 0;
  for (std::size_t i = 0; i < series.efficiency.mean.size(); ++i) {
    const double from_s = series.bucket_s * double(i);
    sum += series.efficiency.mean[i] * std::min(series.bucket_s, 100 - from_s);
  }
  EXPECT_NEAR(sum / 100, *metrics.summary().cluster_efficiency, 1e-9);
  const auto at = [&](double time_s) {
    return series.efficiency.mean[static_cast<std::size_t>(time_s / series.bucket_s)] * 8;
  };
  EXPECT_NEAR(at(1), 0, 1e-9);
  EXPECT_NEAR(at(2.5), 0.5, 1e-9);
  EXPECT_NEAR(at(5), 0.5 + 1.5, 1e-9);
  EXPECT_NEAR(at(15), 0.5, 1e-9) << "not up again after the resize";
  EXPECT_NEAR(at(25), 1 + 2, 1e-9);
  EXPECT_NEAR(at(65), 1, 1e-9) << "the grant that would be up by now is over";
  EXPECT_NEAR(at(80), 1 + 1.5, 1e-9);
  EXPECT_NEAR(at(95), 1.5, 1e-9);
}

TEST(SeriesRecorder, EfficiencyIsEmptyWhenAGrantStatesNoSpeed) {
  TestRun run(1, 1);
  run.submit(0, 0);
  run.hold(0, 0, Started, {{NodeId{0}, 1}}, 0);
  run.add(10, 0, Completed);
  EXPECT_TRUE(series_of(run, {.cluster = run.cluster}).efficiency.mean.empty());
}

TEST(SeriesRecorder, DeadlinesAreCountedFromTheBeginning) {
  TestRun run(1, 4);
  for (const int job : {0, 1, 2}) run.submit(0, job).deadline = time_from_seconds(20);
  run.submit(0, 3);
  run.add(0, 0, Admitted).promised = time_from_seconds(20);
  run.add(0, 1, Admitted).promised = time_from_seconds(20);
  run.add(0, 2, Rejected).reason.code = Reason::Code::DeadlinePast;
  for (const int job : {0, 1, 3}) run.hold(0, job, Started, {{NodeId{0}, 1ULL << job}});
  run.add(50, 0, Completed).finished = time_from_seconds(20);
  run.add(60, 1, Completed);
  run.add(100, 3, Completed);
  const Series series = series_of(run, {.cluster = run.cluster});
  const auto expect = [&](double time_s, double promised, double met, double missed) {
    const auto bucket = static_cast<std::size_t>(time_s / series.bucket_s);
    EXPECT_EQ(series.deadlines.submitted[bucket], 3);
    EXPECT_EQ(series.deadlines.promised[bucket], promised);
    EXPECT_EQ(series.deadlines.met[bucket], met);
    EXPECT_EQ(series.deadlines.missed[bucket], missed);
  };
  expect(10, 2, 0, 1);
  expect(55, 2, 1, 1);
  expect(90, 2, 1, 2);
  const TestRun none = eventful();
  EXPECT_TRUE(series_of(none, {.cluster = none.cluster}).deadlines.submitted.empty());
}

TEST(SeriesRecorder, KeepsTheFirstRefusalsWithTheirReasons) {
  TestRun run(1, 4);
  for (const int job : {0, 1, 2}) {
    run.workload.jobs.push_back(run.submit(0, job, 8));
    run.add(5, job, Rejected).reason = {Reason::Code::TooLarge, kNoJob, 8, 4};
  }
  const Series series =
      series_of(run, {.cluster = run.cluster, .workload = &run.workload, .refusals_max = 2});
  ASSERT_EQ(series.refusals.size(), 2u);
  EXPECT_EQ(series.refusals[1].name, "job1");
  EXPECT_EQ(series.refusals[1].gpus, 8);
  EXPECT_DOUBLE_EQ(series.refusals[1].at_s, 5);
  EXPECT_EQ(series.refusals[1].reason, text(run.events()[1].reason));
  EXPECT_EQ(series_of(run, {.cluster = run.cluster}).refusals[2].name, "#2");
}

}  // namespace
}  // namespace orrery
