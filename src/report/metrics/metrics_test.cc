#include "report/metrics/metrics.h"

#include <gtest/gtest.h>

#include "report/test_run.h"

namespace orrery {
namespace {

using enum EventKind;

RunSummary summary_of(const TestRun& run, std::optional<JobWindow> window = {}) {
  Metrics metrics({.cluster = run.cluster, .workload = &run.workload, .window = window});
  run.send(metrics);
  return metrics.summary();
}

// Node 0 has GPUs 0 and 1. Job 0 wants both and runs 10..30 and 50..60; job 1 wants one, comes at
// 20 and runs 30..50.
TestRun two_jobs_and_a_pause() {
  TestRun run(1, 2);
  run.submit(10, 0, 2, 30, 1);
  run.hold(10, 0, Started, {{NodeId{0}, 0b11}}, 1);
  run.submit(20, 1, 1, 20, 1);
  run.add(20, 1, Queued);
  run.add(30, 0, Paused);
  run.hold(30, 1, Started, {{NodeId{0}, 0b01}}, 1);
  run.add(50, 1, Completed);
  run.hold(50, 0, Resumed, {{NodeId{0}, 0b11}}, 1, 55);
  run.add(60, 0, Completed);
  return run;
}

TEST(Metrics, TwoJobsAndAPauseComeOutAsComputedByHand) {
  const RunSummary summary = summary_of(two_jobs_and_a_pause());
  EXPECT_EQ(summary.gpus, 2);
  EXPECT_EQ(summary.jobs, 2);
  EXPECT_EQ(summary.completed, 2);
  EXPECT_EQ(summary.rejected, 0);
  EXPECT_EQ(summary.failed, 0);
  EXPECT_DOUBLE_EQ(*summary.avg_jct_s, 40);  // job 0: 60-10 = 50; job 1: 50-20 = 30
  EXPECT_DOUBLE_EQ(*summary.p50_jct_s, 50);  // floor(0.5 x 2) = 1, the larger
  EXPECT_DOUBLE_EQ(*summary.p99_jct_s, 50);
  EXPECT_DOUBLE_EQ(*summary.max_jct_s, 50);
  EXPECT_DOUBLE_EQ(*summary.makespan_s, 60);  // on the trace's clock, not from 10
  EXPECT_DOUBLE_EQ(*summary.avg_wait_s, 15);  // job 0: 30..50; job 1: 20..30
  EXPECT_DOUBLE_EQ(*summary.avg_queue, 0.6);  // one waits during 20..50, of 50 s
  EXPECT_EQ(summary.max_queue, 1);
  // Held: 2 during 10..30, 1 during 30..50, 2 during 50..60 = 80 of 100 GPU seconds.
  EXPECT_DOUBLE_EQ(*summary.gpu_utilisation, 0.8);
  // Useful: the same less the start-up of 50..55 on 2 GPUs = 70.
  EXPECT_DOUBLE_EQ(*summary.cluster_efficiency, 0.7);
  EXPECT_EQ(summary.starts, 3);
  EXPECT_EQ(summary.preemptions, 1);
  EXPECT_EQ(summary.moves, 0);
  EXPECT_EQ(summary.events, 9);
  EXPECT_FALSE(summary.deadline_ratio.has_value());
  EXPECT_FALSE(summary.deadlines_met.has_value());
  EXPECT_FALSE(summary.cpu_s.has_value());
}

TEST(Metrics, FairnessComparesEachJobWithItsShareOfTheCluster) {
  const RunSummary summary = summary_of(two_jobs_and_a_pause());
  // Job 0 is there for 50 s with 1.6 jobs on average, so its 2 GPUs would be 2 / 1.6: 30 s x 1.6.
  // Job 1 is there for 30 s with 2 jobs; its share is the GPU that it asks for: 20 s.
  const double first = 50.0 / 48;
  const double second = 30.0 / 20;
  EXPECT_DOUBLE_EQ(*summary.avg_rho, (first + second) / 2);
  EXPECT_DOUBLE_EQ(*summary.max_rho, second);
  EXPECT_DOUBLE_EQ(*summary.unfair_ratio, 1);
  EXPECT_DOUBLE_EQ(*summary.jain_index,
                   (first + second) * (first + second) / (2 * (first * first + second * second)));
}

TEST(Metrics, AJobThatNothingDelaysIsTreatedFairly) {
  TestRun run(1, 2);
  run.submit(10, 0, 1, 30.1, 1).start_cost = from_seconds(5);
  run.hold(10, 0, Started, {{NodeId{0}, 0b01}}, 1, 15);
  run.add(45.1, 0, Completed);
  const RunSummary summary = summary_of(run);
  EXPECT_DOUBLE_EQ(*summary.max_rho, 1);
  EXPECT_DOUBLE_EQ(*summary.unfair_ratio, 0);
  EXPECT_DOUBLE_EQ(*summary.jain_index, 1);
}

TEST(Metrics, FairnessIsAboutTheCompletedJobsOfTheWindow) {
  const RunSummary summary = summary_of(two_jobs_and_a_pause(), JobWindow{JobId{0}, JobId{1}});
  EXPECT_DOUBLE_EQ(*summary.max_rho, 50.0 / 48) << "the other job still contends";
  TestRun rejected(1, 2);
  rejected.submit(10, 0);
  rejected.add(20, 0, Rejected);
  EXPECT_FALSE(summary_of(rejected).avg_rho.has_value());
}

TEST(Metrics, AGpuSharedByAGroupCountsOnceButItsWorkTwice) {
  TestRun run(1, 2);
  for (const int job : {0, 1}) run.submit(0, job);
  for (const int job : {0, 1}) {
    Grant& grant = run.hold(0, job, Started, {{NodeId{0}, 0b01}}, 0.75);
    grant.sharing = Sharing::Interleaved;
    grant.group = GroupId{0};
    grant.position = job;
  }
  run.add(10, 0, Completed);
  run.hold(10, 1, Regrouped, {{NodeId{0}, 0b01}}, 1);
  run.add(20, 1, Completed);
  const RunSummary summary = summary_of(run);
  EXPECT_DOUBLE_EQ(*summary.gpu_utilisation, 0.5);  // one of two GPUs, all the time
  // 10 s with 2 x 0.75, then 10 s with 1, of 40 GPU seconds.
  EXPECT_DOUBLE_EQ(*summary.cluster_efficiency, 25.0 / 40);
  EXPECT_EQ(summary.starts, 2);
  EXPECT_EQ(summary.max_queue, 0);  // started in the instant of submission
  EXPECT_DOUBLE_EQ(*summary.avg_wait_s, 0);
}

TEST(Metrics, MovesAndResizesChangeWhatIsHeld) {
  TestRun run(2, 2);
  run.submit(0, 0, 2);
  run.hold(0, 0, Started, {{NodeId{0}, 0b11}});
  run.hold(10, 0, Moved, {{NodeId{1}, 0b11}});
  run.hold(20, 0, Resized, {{NodeId{0}, 0b11}, {NodeId{1}, 0b11}}, 2);
  run.add(30, 0, Completed);
  const RunSummary summary = summary_of(run);
  EXPECT_DOUBLE_EQ(*summary.gpu_utilisation, (20.0 + 20 + 40) / 120);
  EXPECT_EQ(summary.moves, 1);
  EXPECT_EQ(summary.resizes, 1);
  EXPECT_EQ(summary.starts, 1);
  EXPECT_DOUBLE_EQ(*summary.avg_jct_s, 30);
}

TEST(Metrics, DeadlinesCountEveryJobThatHasOneEvenIfRejected) {
  TestRun run(1, 4);
  run.submit(0, 0).deadline = time_from_seconds(10);
  run.submit(0, 1).deadline = time_from_seconds(9);
  run.submit(0, 2).deadline = time_from_seconds(1);
  run.submit(0, 3);
  for (const int job : {0, 1, 3}) {
    run.hold(0, job, Started, {{NodeId{0}, 1ULL << job}});
  }
  run.add(0, 2, Rejected);
  for (const int job : {0, 1, 3}) run.add(10, job, Completed);
  const RunSummary summary = summary_of(run);
  EXPECT_EQ(summary.deadlines_met, 1);  // at its deadline is in time
  EXPECT_DOUBLE_EQ(*summary.deadline_ratio, 1.0 / 3);
  EXPECT_EQ(summary.rejected, 1);
  EXPECT_EQ(summary.completed, 3);
}

TEST(Metrics, ADeadlineIsJudgedByTheLastIterationAndTheCompletionTimeByTheEvent) {
  TestRun run(1, 1);
  run.submit(0, 0).deadline = time_from_seconds(10);
  run.hold(0, 0, Started, {{NodeId{0}, 1}});
  run.add(60, 0, Completed).finished = time_from_seconds(10);
  const RunSummary summary = summary_of(run);
  EXPECT_EQ(summary.deadlines_met, 1);
  EXPECT_DOUBLE_EQ(*summary.avg_jct_s, 60);
}

// Six jobs with deadlines: 0 promised and met, 1 promised and late, 2 promised and failed, 3
// promised and cancelled by its owner, 4 met without a promise, 5 refused. 6 and 7 have none.
TestRun promises() {
  TestRun run(1, 8);
  for (const int job : {0, 1, 2, 3, 4, 5}) {
    run.submit(0, job, 2, 10, 0.5).deadline = time_from_seconds(10);
  }
  for (const int job : {6, 7}) run.submit(0, job);
  for (const int job : {0, 1, 2, 3}) run.add(0, job, Admitted).promised = time_from_seconds(9);
  run.add(0, 5, Rejected).reason.code = Reason::Code::TooLate;
  for (const int job : {0, 1, 2, 3, 4, 6, 7}) {
    run.hold(0, job, Started, {{NodeId{0}, 1ULL << job}});
  }
  run.add(5, 2, Failed);
  run.add(5, 3, Cancelled);
  run.add(9, 0, Completed);
  run.add(10, 4, Completed);
  run.add(11, 1, Completed);
  run.add(12, 6, Completed);
  run.add(32, 7, Completed);
  return run;
}

TEST(Metrics, PromisesAreCountedApartFromDeadlines) {
  const RunSummary summary = summary_of(promises());
  EXPECT_EQ(summary.deadlines_met, 2);
  EXPECT_DOUBLE_EQ(*summary.deadline_ratio, 2.0 / 6);
  EXPECT_EQ(summary.promises, 4);
  EXPECT_EQ(summary.promises_broken, 2);  // the late one and the failed one
  EXPECT_DOUBLE_EQ(*summary.admitted_gpu_s, 4 * 10 * 0.5 * 2);
  EXPECT_DOUBLE_EQ(*summary.best_effort_avg_jct_s, 22);
  EXPECT_FALSE(summary.soft_value_won.has_value());
}

TEST(Metrics, FiguresAboutPromisesAreEmptyWhereTheyHaveNoMeaning) {
  TestRun run(1, 2);
  run.submit(0, 0);
  run.hold(0, 0, Started, {{NodeId{0}, 1}});
  run.add(10, 0, Completed);
  const RunSummary none = summary_of(run);
  EXPECT_FALSE(none.promises.has_value());
  EXPECT_FALSE(none.best_effort_avg_jct_s.has_value()) << "all are best effort: see avg_jct_s";
  run.submit(10, 1).deadline = time_from_seconds(20);
  const RunSummary unpromised = summary_of(run);
  EXPECT_EQ(unpromised.promises, 0);
  EXPECT_FALSE(unpromised.promises_broken.has_value());
  EXPECT_FALSE(unpromised.admitted_gpu_s.has_value());
  EXPECT_DOUBLE_EQ(*unpromised.best_effort_avg_jct_s, 10);
}

TEST(Metrics, ASoftDeadlineInTimeWinsItsValue) {
  TestRun run(1, 4);
  for (const int job : {0, 1, 2}) {
    JobSpec& spec = run.submit(0, job);
    spec.deadline = time_from_seconds(10);
    spec.deadline_value = job + 3;
    if (job < 2) spec.deadline_kind = DeadlineKind::Soft;
    run.hold(0, job, Started, {{NodeId{0}, 1ULL << job}});
  }
  run.add(9, 0, Completed);
  run.add(9, 2, Completed);
  run.add(11, 1, Completed);
  const RunSummary summary = summary_of(run);
  EXPECT_DOUBLE_EQ(*summary.soft_value_won, 3);  // 1 was late, 2 is hard
  EXPECT_EQ(summary.deadlines_met, 2);
}

TEST(Metrics, AWindowCoversThePromisesOfItsJobs) {
  const RunSummary summary = summary_of(promises(), JobWindow{.first = JobId{1}, .end = JobId{3}});
  EXPECT_EQ(summary.promises, 2);
  EXPECT_EQ(summary.promises_broken, 2);
  EXPECT_EQ(summary.deadlines_met, 0);
  EXPECT_FALSE(summary.best_effort_avg_jct_s.has_value());
}

// One GPU does 2 iterations a second, two do 3, four do 4, four on two nodes only 3.5.
TestRun elastic() {
  TestRun run(2, 4);
  run.workload.curves = {{{{1, 2}, {2, 3}, {4, 4}}, {{4, 2, 3.5}}}};
  JobSpec& spec = run.submit(0, 0, 4, 100, 0.25);
  spec.curve = CurveId{0};
  spec.deadline = time_from_seconds(100);
  run.add(0, 0, Admitted).promised = time_from_seconds(40);
  run.hold(0, 0, Started, {{NodeId{0}, 0b0011}}, 0);
  run.hold(10, 0, Resized, {{NodeId{0}, 0b1111}}, 0, 12);
  run.hold(20, 0, Moved, {{NodeId{0}, 0b0011}, {NodeId{1}, 0b0011}}, 0);
  run.add(30, 0, Completed);
  return run;
}

TEST(Metrics, AnElasticJobIsWorthWhatOneGpuWouldNeedForIt) {
  const RunSummary summary = summary_of(elastic());
  EXPECT_DOUBLE_EQ(*summary.admitted_gpu_s, 50);  // 100 iterations, 2 a second on one GPU
  // 10 s at 3/2, 8 s at 4/2, 10 s at 3.5/2, of 8 GPUs x 30 s.
  EXPECT_DOUBLE_EQ(*summary.cluster_efficiency, (15 + 16 + 17.5) / 240);
  EXPECT_DOUBLE_EQ(*summary.gpu_utilisation, (2 * 10 + 4 * 20) / 240.0);
  EXPECT_EQ(summary.resizes, 1);
}

TEST(Metrics, ACurveWithoutOneGpuIsMeasuredByTheGpusAskedFor) {
  TestRun run(1, 4);
  run.workload.curves = {{{{2, 3}, {4, 4}}, {}}};
  JobSpec& spec = run.submit(0, 0, 2, 90, 1.0 / 3);
  spec.curve = CurveId{0};
  run.hold(0, 0, Started, {{NodeId{0}, 0b1111}}, 0);
  run.add(30, 0, Completed);
  // 4 iterations a second, each 2 GPUs x 1/3 s.
  EXPECT_DOUBLE_EQ(*summary_of(run).cluster_efficiency, 4 * 2.0 / 3 / 4);
}

TEST(Metrics, AnElasticJobThatSharesGoesByItsGrant) {
  TestRun run(1, 1);
  run.workload.curves = {{{{1, 2}}, {}}};
  run.submit(0, 0).curve = CurveId{0};
  run.hold(0, 0, Started, {{NodeId{0}, 1}}, 1.5).sharing = Sharing::Interleaved;
  run.add(10, 0, Completed);
  EXPECT_DOUBLE_EQ(*summary_of(run).cluster_efficiency, 0.75);
}

TEST(Metrics, NothingCompletedLeavesFiguresWithoutMeaningEmpty) {
  TestRun run(1, 1);
  run.submit(0, 0, 8);
  run.add(0, 0, Rejected);
  const RunSummary summary = summary_of(run);
  EXPECT_EQ(summary.rejected, 1);
  EXPECT_EQ(summary.completed, 0);
  for (const auto& figure :
       {summary.avg_jct_s, summary.p50_jct_s, summary.p95_jct_s, summary.p99_jct_s,
        summary.max_jct_s, summary.makespan_s, summary.avg_wait_s, summary.avg_queue,
        summary.deadline_ratio, summary.cluster_efficiency, summary.gpu_utilisation}) {
    EXPECT_FALSE(figure.has_value());
  }
  EXPECT_FALSE(summary.max_queue.has_value());
}

TEST(Metrics, EfficiencyIsUnknownWhenAGrantStatesNoSpeed) {
  TestRun run(1, 1);
  run.submit(0, 0);
  run.hold(0, 0, Started, {{NodeId{0}, 1}}, 0);
  run.add(10, 0, Completed);
  const RunSummary summary = summary_of(run);
  EXPECT_FALSE(summary.cluster_efficiency.has_value());
  EXPECT_DOUBLE_EQ(*summary.gpu_utilisation, 1);
}

TEST(Metrics, AGrantThatEndsBeforeItIsReadyDidNothingUseful) {
  TestRun run(1, 1);
  run.submit(0, 0);
  run.hold(0, 0, Started, {{NodeId{0}, 1}}, 1, 30);
  run.add(10, 0, Paused);
  run.hold(20, 0, Resumed, {{NodeId{0}, 1}}, 1);
  run.add(40, 0, Completed);
  EXPECT_DOUBLE_EQ(*summary_of(run).cluster_efficiency, 0.5);
}

// Job 0 holds both GPUs from 0 on and is ready at 30; job 1 comes at 20 and is the last.
TEST(Metrics, TheSpanOfArrivalsEndsAtTheLastSubmission) {
  TestRun run(1, 2);
  run.submit(0, 0, 2);
  run.hold(0, 0, Started, {{NodeId{0}, 0b11}}, 1, 5);
  run.submit(20, 1, 1);
  run.add(40, 0, Completed);
  run.hold(40, 1, Started, {{NodeId{0}, 0b01}}, 1);
  run.add(80, 1, Completed);
  const RunSummary summary = summary_of(run);
  EXPECT_DOUBLE_EQ(*summary.arrivals_gpu_utilisation, 1);
  EXPECT_DOUBLE_EQ(*summary.arrivals_cluster_efficiency, 15.0 / 20);
  EXPECT_DOUBLE_EQ(*summary.gpu_utilisation, (2 * 40 + 40) / 160.0);
}

// The grant's start-up goes on beyond the last submission, whether it has ended since or not.
TEST(Metrics, AStartUpCountsInTheSpanOfArrivalsAsFarAsItLiesInIt) {
  TestRun run(1, 2);
  run.submit(0, 0, 1);
  run.hold(0, 0, Started, {{NodeId{0}, 0b01}}, 1);
  run.submit(5, 1, 1);
  run.hold(10, 1, Started, {{NodeId{0}, 0b10}}, 1, 40);
  run.submit(20, 2, 1);
  EXPECT_DOUBLE_EQ(*summary_of(run).arrivals_gpu_utilisation, 30.0 / 40);
  EXPECT_DOUBLE_EQ(*summary_of(run).arrivals_cluster_efficiency, 20.0 / 40);
  run.add(30, 1, Completed);
  EXPECT_DOUBLE_EQ(*summary_of(run).arrivals_cluster_efficiency, 20.0 / 40);
}

TEST(Metrics, JobsThatAllComeAtOnceHaveNoSpanOfArrivals) {
  TestRun run(1, 1);
  run.submit(10, 0);
  run.submit(10, 1);
  run.hold(10, 0, Started, {{NodeId{0}, 1}}, 1);
  run.add(20, 0, Completed);
  EXPECT_FALSE(summary_of(run).arrivals_gpu_utilisation.has_value());
}

TEST(Metrics, AWindowCoversItsJobsAndLeavesTheClusterWhole) {
  const RunSummary summary =
      summary_of(two_jobs_and_a_pause(), JobWindow{.first = JobId{1}, .end = JobId{2}});
  EXPECT_EQ(summary.jobs, 1);
  EXPECT_EQ(summary.completed, 1);
  EXPECT_DOUBLE_EQ(*summary.avg_jct_s, 30);
  EXPECT_DOUBLE_EQ(*summary.makespan_s, 50);
  EXPECT_DOUBLE_EQ(*summary.avg_wait_s, 10);
  EXPECT_EQ(summary.starts, 3);
  EXPECT_EQ(summary.preemptions, 1);
  EXPECT_DOUBLE_EQ(*summary.gpu_utilisation, 0.8);
  EXPECT_EQ(summary.events, 9);
}

TEST(Metrics, PercentilesTakeTheSortedValueAtTheFlooredIndex) {
  TestRun run(1, 1);
  for (int job = 0; job < 200; ++job) run.submit(0, job);
  for (int job = 0; job < 200; ++job) {
    run.hold(job, job, Started, {{NodeId{0}, 1}});
    run.add(job + 1, job, Completed);
  }
  const RunSummary summary = summary_of(run);  // completion times 1, 2, ..., 200
  EXPECT_DOUBLE_EQ(*summary.p50_jct_s, 101);
  EXPECT_DOUBLE_EQ(*summary.p95_jct_s, 191);
  EXPECT_DOUBLE_EQ(*summary.p99_jct_s, 199);
  EXPECT_DOUBLE_EQ(*summary.max_jct_s, 200);
  EXPECT_EQ(summary.max_queue, 199);
}

TEST(Metrics, AFailedJobEndsTheRunButHasNoCompletionTime) {
  TestRun run(1, 2);
  run.submit(0, 0);
  run.submit(0, 1);
  run.hold(0, 0, Started, {{NodeId{0}, 1}});
  run.hold(0, 1, Started, {{NodeId{0}, 2}});
  run.add(10, 0, Completed);
  run.add(40, 1, Failed);
  const RunSummary summary = summary_of(run);
  EXPECT_EQ(summary.failed, 1);
  EXPECT_DOUBLE_EQ(*summary.avg_jct_s, 10);
  EXPECT_DOUBLE_EQ(*summary.makespan_s, 40);
  EXPECT_DOUBLE_EQ(*summary.gpu_utilisation, 50.0 / 80);
}

TEST(Metrics, WhatComesAfterTheLastEndDoesNotCount) {
  TestRun run(1, 1);
  run.submit(0, 0);
  run.hold(0, 0, Started, {{NodeId{0}, 1}});
  run.add(10, 0, Completed);
  for (const int job : {1, 2}) run.submit(20, job, 8);
  run.add(100, 1, Queued);
  const RunSummary summary = summary_of(run);
  EXPECT_DOUBLE_EQ(*summary.avg_queue, 0);
  EXPECT_EQ(summary.max_queue, 0);
  EXPECT_DOUBLE_EQ(*summary.gpu_utilisation, 1);
  EXPECT_EQ(summary.jobs, 3);
}

TEST(Metrics, AJobCountsFromItsSubmissionAndNotFromWhenItWasNoticed) {
  TestRun run(1, 1);
  run.submit(60, 0).submitted = time_from_seconds(45);
  run.hold(60, 0, Started, {{NodeId{0}, 1}});
  run.add(100, 0, Completed);
  const RunSummary summary = summary_of(run);
  EXPECT_DOUBLE_EQ(*summary.avg_jct_s, 55);
  EXPECT_DOUBLE_EQ(*summary.avg_wait_s, 15);
}

TEST(DeviceLedger, FollowsAPlainCountOfHolders) {
  Cluster cluster;
  cluster.nodes.resize(1);
  cluster.nodes[0].gpus = 64;
  DeviceLedger ledger(cluster);
  std::vector<int> holders(64, 0);
  std::vector<std::uint64_t> taken;
  std::uint64_t state = 1;
  for (int step = 0; step < 2000; ++step) {
    state = state * 6364136223846793005ULL + 1442695040888963407ULL;
    int expected = 0;
    if (taken.size() < 40 || (state >> 63) != 0) {
      if (taken.size() > 200) continue;
      taken.push_back(state ^ (state >> 29));
      for (int gpu = 0; gpu < 64; ++gpu) {
        if ((taken.back() >> gpu & 1) != 0) expected += holders[gpu]++ == 0;
      }
      EXPECT_EQ(ledger.take({NodeId{0}, taken.back()}), expected);
    } else {
      const std::size_t which = (state >> 40) % taken.size();
      for (int gpu = 0; gpu < 64; ++gpu) {
        if ((taken[which] >> gpu & 1) != 0) expected += --holders[gpu] == 0;
      }
      EXPECT_EQ(ledger.release({NodeId{0}, taken[which]}), expected);
      taken.erase(taken.begin() + static_cast<std::ptrdiff_t>(which));
    }
  }
}

}  // namespace
}  // namespace orrery
