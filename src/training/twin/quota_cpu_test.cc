#include "training/twin/quota_cpu.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "training/sync/ring_sum.h"
#include "training/twin/pace.h"

namespace orrery {
namespace {

constexpr double kCores = 0.06;  // 1 ms in every 16.7 ms

ShareLine line(const std::string& script = "") {
  return {parse_straggler_script(script, "script", 1, 1, std::chrono::hours(1)).value(), 0,
          ServerResource::Cpu};
}

TEST(QuotaCpu, WithoutRestItWorksAtItsShare) {
  QuotaCpu cpu(kCores, 1);
  const ShareLine whole = line();
  double now_s = 0;
  for (int i = 0; i < 1000; ++i) now_s = cpu.work(now_s, {0.07}, whole, 1);
  EXPECT_NEAR(now_s, 1000 * 0.07, 0.2);
}

TEST(QuotaCpu, AShareOfItTakesAsManyTimesLonger) {
  QuotaCpu cpu(kCores, 1);
  const ShareLine quarter = line("at 0s server 0 cpu 0.25");
  double now_s = 0;
  for (int i = 0; i < 1000; ++i) now_s = cpu.work(now_s, {0.07}, quarter, 1);
  EXPECT_NEAR(now_s, 1000 * 0.28, 1);
}

TEST(QuotaCpu, ARestedCpuIsDoneSoonerButSavesUpOnlyOnePeriod) {
  const ShareLine whole = line();
  const auto mean_after_rest = [&](double rest_s) {
    QuotaCpu cpu(kCores, 1);
    double now_s = 0, sum_s = 0;
    for (int i = 0; i < 1000; ++i) {
      const double done_s = cpu.work(now_s, {0.07}, whole, 1);
      sum_s += done_s - now_s;
      now_s = done_s + rest_s;
    }
    return sum_s / 1000;
  };
  const double rested_s = mean_after_rest(0.2);
  EXPECT_LT(rested_s, 0.75 * mean_after_rest(0));
  EXPECT_NEAR(mean_after_rest(2), rested_s, 0.1 * rested_s);
}

TEST(QuotaCpu, OveruseIsWaitedOutBeforeItSends) {
  const ShareLine whole = line();
  const auto quickest_s = [&](double sends_s) {
    QuotaCpu cpu(kCores, 1);
    double least_s = 1;
    for (int i = 0; i < 1000; ++i) {
      least_s = std::min(least_s, cpu.work(i, {0.07, sends_s}, whole, 1) - i);
    }
    return least_s;
  };
  // 4.2 ms of CPU can be had in one go, but 3.9 ms of them are more than a rested server has.
  EXPECT_NEAR(quickest_s(0), 0.07 * kCores, 1e-6);
  EXPECT_GT(quickest_s(0.005), 0.03);
}

TEST(QuotaCpu, WorkThatIsBrokenOffIsDoneInPart) {
  const ShareLine whole = line();
  QuotaCpu broken(kCores, 1), whole_work(kCores, 1);
  const double end_s = broken.work(0, {0.2}, whole, 1);
  EXPECT_NEAR(broken.done_s(end_s), 0.2, 1e-9);
  const double half_s = broken.done_s(end_s / 2);
  EXPECT_GT(half_s, 0.05);
  EXPECT_LT(half_s, 0.2);
  broken.stop(end_s / 2, whole, 1);
  EXPECT_NEAR(broken.done_s(end_s), half_s, 1e-9);
  // What is left takes about as long as it would have.
  EXPECT_NEAR(broken.work(end_s / 2, {0.2 - half_s}, whole, 1), whole_work.work(0, {0.2}, whole, 1),
              0.07);
}

// Tasks that a server of known work did, with rests of its own in between.
TrainingRun made_run(const RunServers& servers, double fixed_s, double per_sample_s) {
  TrainingRun run;
  Random random(5);
  for (int worker = 0; worker < 4; ++worker) {
    QuotaCpu cpu(servers.cores, 100 + static_cast<std::uint64_t>(worker));
    const ShareLine share(servers.script, worker, ServerResource::Cpu);
    double now_s = 0;
    for (int i = 0; i < 300; ++i) {
      const int samples = worker < 2 ? 128 : static_cast<int>(random.between(1, 60));
      const double done_s =
          cpu.work(now_s, {fixed_s + per_sample_s * samples, fixed_s / 2}, share, 1);
      run.tasks.push_back({worker, now_s, done_s, samples});
      now_s = done_s + random.exponential(0.02 * worker + 1e-6);
    }
  }
  return run;
}

TEST(Pace, TheWorkOfTasksIsFoundFromTheirTimesWhateverRestsTheyHad) {
  RunServers servers{.cores = kCores};
  servers.script =
      parse_straggler_script("at 0s server 3 cpu 0.25", "script", 4, 1, std::chrono::hours(1))
          .value();
  const TrainingRun run = made_run(servers, 0.015, 0.0005);
  TwinWorker fitted{.per_sample_s = 1};
  for (int i = 0; i < 4; ++i) fitted = fit_work(measured_work(run, servers, fitted));
  EXPECT_NEAR(fitted.fixed_s, 0.015, 0.002);
  EXPECT_NEAR(fitted.per_sample_s, 0.0005, 0.00003);
}

TEST(Pace, AWorkerWhoseLinkWasCutIsNoEvidenceOfItsCpu) {
  RunServers servers{.cores = kCores};
  servers.script =
      parse_straggler_script("at 0s server 3 bandwidth 0.1", "script", 4, 1, std::chrono::hours(1))
          .value();
  EXPECT_EQ(measured_work(made_run(servers, 0, 0.0005), servers).size(), 3u);
}

TEST(Pace, ARunOnASlowerDayDoesNotPassForASmallBatchsCost) {
  std::vector<TaskWork> points;
  const double slowness[] = {0.9, 1.2, 0.9};
  for (int run = 0; run < 3; ++run) {
    const auto seen = [&](double samples) {
      points.push_back({.samples = samples,
                        .work_s = slowness[run] * (0.02 + 0.0005 * samples),
                        .tasks = 100,
                        .run = run});
    };
    seen(128);
    if (run == 1) seen(1);
  }
  const TwinWorker fitted = fit_work(points);
  EXPECT_NEAR(fitted.fixed_s, 0.02, 0.001);
  EXPECT_NEAR(fitted.per_sample_s, 0.0005, 0.00002);
}

TEST(Pace, BlocksCostWhatTasksInBlocksTakeLonger) {
  const TaskWork whole{.samples = 128, .blocks = 1, .work_s = 0.07, .tasks = 100};
  const TaskWork in_four{.samples = 128, .blocks = 4, .work_s = 0.1, .tasks = 300};
  const TwinWorker fitted = fit_work(std::vector{whole, in_four});
  EXPECT_NEAR(fitted.block_s, 0.01, 1e-9);
  EXPECT_NEAR(fitted.per_sample_s * 128, 0.07, 1e-9);
  EXPECT_EQ(fit_work(std::vector{in_four}).block_s, 0);
}

TEST(Pace, WhatPassesBetweenRoundsIsTheSum) {
  TrainingRun run{.workers = 4};
  double now_s = 0;
  const double sum_s = ring_sum_s(4, 0.01, 0.005) + 0.02;
  for (int round = 0; round < 10; ++round) {
    for (int worker = 0; worker < 4; ++worker) {
      run.tasks.push_back({worker, now_s, now_s + 0.05 + 0.01 * worker, 32});
    }
    now_s += 0.08 + sum_s;
  }
  RunServers servers{.bytes_per_s = 1e6, .sum_work_s = 0.02};
  std::vector<double> messages = measured_messages(run, servers, 1e4);
  ASSERT_EQ(messages.size(), 9u);
  for (const double one : messages) EXPECT_NEAR(one, 0.005, 1e-9);
  const auto script = [](const std::string& text) {
    return parse_straggler_script(text, "script", 4, 1, std::chrono::hours(1)).value();
  };
  servers.script = script(fmt::format("at 0s server 2 cpu 0.5 for {}s", 3.5 * (0.08 + sum_s)));
  EXPECT_EQ(measured_messages(run, servers, 1e4).size(), 6u) << "whose sum began with all calm";
  servers.script = script("at 0s server 2 bandwidth 0.5");
  EXPECT_TRUE(measured_messages(run, servers, 1e4).empty());
}

TEST(QuotaCpu, ACpuThatDidNotRestHasNothingSavedUp) {
  const ShareLine line({}, 0, ServerResource::Cpu);
  double rested_s = 0, tired_s = 0;
  for (std::uint64_t seed = 1; seed <= 50; ++seed) {
    QuotaCpu rested(0.06, seed), tired(0.06, seed);
    tired.tire(1, line, 1);
    rested_s += rested.work(1, {0.05, 0}, line, 1) - 1;
    tired_s += tired.work(1, {0.05, 0}, line, 1) - 1;
  }
  EXPECT_GT(tired_s, rested_s + 50 * 0.01);
}

TEST(Pace, WhatWasNotUsedWithinTasksIsTheSumsWork) {
  TrainingRun run{.workers = 4};
  for (int task = 0; task < 40; ++task) run.tasks.push_back({.worker = task % 4, .cpu_s = 0.003});
  EXPECT_NEAR(measured_sum_work(run, {.cores = 0.1}, 10 * (0.003 + 0.001)), 0.001 / 0.1, 1e-9);
  EXPECT_EQ(measured_sum_work(run, {.cores = 0.1}, 10 * 0.002), 0);
  for (RunTask& task : run.tasks) task.cpu_s = 0;
  EXPECT_EQ(measured_sum_work(run, {.cores = 0.1}, 1), 0) << "nothing is known of tasks";
}

}  // namespace
}  // namespace orrery
