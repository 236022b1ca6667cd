#include "training/twin/twin.h"

#include <gtest/gtest.h>

#include <numeric>

namespace orrery {
namespace {

// Workers of 100 ms a task of 32 samples, the last one slower by a factor.
TwinSetup eight_workers(double slow, int x, std::int64_t gradients = 8000) {
  TwinSetup setup;
  setup.workers.resize(8, {.fixed_s = 0.1});
  setup.workers.back().fixed_s = 0.1 * slow;
  setup.jitter = 0.03;
  setup.mode = {.x = x};
  setup.conductor.global_batch = 256;
  setup.conductor.samples_limit = gradients * 32;
  return setup;
}

struct StaticX {
  int x = 0;
  double slow = 0, interval_ms = 0, gradients_per_s = 0, staleness = 0;
};

// specs/star.md 2.5: seven workers of 100 ms and one slower, 3 % jitter.
const std::vector<StaticX> kStaticX = {
    {1, 1.5, 13.1, 76.6, 6.99}, {2, 1.5, 27.4, 73.0, 3.00}, {4, 1.5, 60.4, 66.2, 1.00},
    {6, 1.5, 101.0, 59.4, .33}, {7, 1.5, 103.0, 68.0, .14}, {8, 1.5, 150.1, 53.3, 0},
    {1, 4, 13.8, 72.4, 6.99},   {2, 4, 30.5, 65.5, 3.00},   {4, 4, 79.0, 50.6, 1.00},
    {6, 4, 101.5, 59.1, .33},   {7, 4, 103.6, 67.6, .14},   {8, 4, 400.4, 20.0, 0},
    {1, 10, 14.1, 70.9, 6.99},  {2, 10, 31.9, 62.8, 3.00},  {4, 10, 88.9, 45.0, 1.00},
    {6, 10, 101.7, 59.0, .33},  {7, 10, 103.8, 67.4, .14},  {8, 10, 1000.9, 8.0, 0},
};

TEST(Twin, StaticXHasTheIntervalsRatesAndStalenessOfTheTable) {
  for (const StaticX& row : kStaticX) {
    const TwinResult run = run_twin(eight_workers(row.slow, row.x));
    const std::string place = "x " + std::to_string(row.x) + " slow " + std::to_string(row.slow);
    const double interval_ms = 1e3 * run.wall_s / static_cast<double>(run.tally.counts.updates);
    EXPECT_NEAR(interval_ms, row.interval_ms, 0.05 * row.interval_ms) << place;
    EXPECT_NEAR(static_cast<double>(run.tally.counts.gradients) / run.wall_s, row.gradients_per_s,
                0.05 * row.gradients_per_s)
        << place;
    EXPECT_NEAR(run.mean_staleness(), row.staleness, 0.02) << place;
  }
}

TEST(Twin, AStragglersShareOfTheGradientsIsWhatItsSpeedAllows) {
  const TwinResult run = run_twin(eight_workers(4, 1));
  const std::int64_t all =
      std::accumulate(run.gradients_of.begin(), run.gradients_of.end(), std::int64_t{0});
  EXPECT_EQ(all, run.tally.counts.gradients);
  EXPECT_NEAR(static_cast<double>(run.gradients_of.back()) / static_cast<double>(all), 0.035,
              0.002);
  EXPECT_NEAR(static_cast<double>(run.max_staleness), 31, 5);
}

TEST(Twin, TheSameSetupGivesTheSameResultAndAnotherSeedAnother) {
  TwinSetup setup = eight_workers(1.5, 3, 500);
  setup.conductor.evaluate_every = 1024;
  setup.convergence.scatter = 0.01;
  const TwinResult once = run_twin(setup), again = run_twin(setup);
  setup.seed = 2;
  const TwinResult other = run_twin(setup);
  EXPECT_EQ(once.wall_s, again.wall_s);
  EXPECT_NE(once.wall_s, other.wall_s);
  ASSERT_EQ(once.curve.size(), again.curve.size());
  for (std::size_t i = 0; i < once.curve.size(); ++i) {
    EXPECT_EQ(once.curve[i].accuracy, again.curve[i].accuracy);
    EXPECT_EQ(once.curve[i].time_s, again.curve[i].time_s);
  }
}

TEST(Twin, AScriptSlowsAWorkerForItsTime) {
  TwinSetup setup = eight_workers(1, 8, 8 * 100);
  setup.jitter = 0;
  const double normal_s = run_twin(setup).wall_s;
  setup.script = parse_straggler_script("at 2s server 3 cpu 0.25 for 4s", "script", 8, 1,
                                        std::chrono::seconds(100))
                     .value();
  EXPECT_NEAR(normal_s, 10, 0.001);
  // In those four seconds ten updates are made instead of forty.
  EXPECT_NEAR(run_twin(setup).wall_s, 13, 0.001);
}

TEST(Twin, TransfersShareTheShardsLinkAndHaveTheirOwn) {
  TwinSetup setup = eight_workers(1, 8, 8 * 10);
  setup.jitter = 0;
  setup.parameter_bytes = 1e6;
  setup.shards.bytes_per_s = 40e6;
  EXPECT_NEAR(run_twin(setup).wall_s, 10 * (0.1 + 2 * 8 / 40.0), 1e-6) << "down and up again";
  setup.shards.bytes_per_s = 0;
  for (TwinWorker& worker : setup.workers) worker.bytes_per_s = 10e6;
  EXPECT_NEAR(run_twin(setup).wall_s, 10 * (0.1 + 2 / 10.0), 1e-6);
  setup.script = parse_straggler_script("at 0 server 5 bandwidth 0.1", "script", 8, 1,
                                        std::chrono::seconds(100))
                     .value();
  EXPECT_NEAR(run_twin(setup).wall_s, 10 * (0.1 + 2.0), 1e-6);
}

TEST(Twin, WithoutASlowLinkTheOthersGetWhatItLeaves) {
  TwinSetup setup = eight_workers(1, 8, 8 * 10);
  setup.jitter = 0;
  setup.parameter_bytes = 1e6;
  setup.shards.bytes_per_s = 8e6;
  for (TwinWorker& worker : setup.workers) worker.bytes_per_s = 10e6;
  setup.workers[0].bytes_per_s = 0.1e6;  // seven share 7.9 MB/s; it takes ten seconds either way
  EXPECT_NEAR(run_twin(setup).wall_s, 10 * (0.1 + 20), 1e-3);
}

TEST(Twin, ShardsTakeGradientsOneAfterTheOther) {
  TwinSetup setup = eight_workers(1, 8, 8 * 10);
  setup.jitter = 0;
  setup.shards = {.gradient_s = 0.02, .update_s = 0.005};
  EXPECT_NEAR(run_twin(setup).wall_s, 10 * (0.1 + 8 * 0.02 + 0.005) - 0.005, 1e-6);
  setup.mode.x = 1;
  setup.conductor.samples_limit = 800 * 32;
  const TwinResult run = run_twin(setup);
  EXPECT_NEAR(run.wall_s / static_cast<double>(run.tally.counts.updates), 0.025, 0.0005)
      << "they are the limit";
}

TEST(Twin, ARingTakesAsLongAsItsSlowestLinkAndLeavesChildrenBehind) {
  TwinSetup setup = eight_workers(4, 0, 8 * 20);
  setup.jitter = 0;
  setup.conductor.architecture = Architecture::AllReduce;
  setup.parameter_bytes = 8e6;
  for (TwinWorker& worker : setup.workers) worker.bytes_per_s = 100e6;
  EXPECT_NEAR(run_twin(setup).wall_s, 20 * (0.4 + 2 * 7.0 / 8 * 0.08), 1e-6);
  setup.message_s = 0.01;  // of which a sum has 6
  EXPECT_NEAR(run_twin(setup).wall_s, 20 * (0.4 + 2 * 7.0 / 8 * 0.08 + 0.06), 1e-6);
  setup.message_s = 0;
  setup.mode = {.rule = SyncRuleKind::Ring, .parents = {{WorkerId{7}, WorkerId{0}}}};
  for (int i = 0; i < 7; ++i) setup.mode.ring.push_back(WorkerId{i});
  const TwinResult run = run_twin(setup);
  EXPECT_GT(run.gradients_of[7], 0);
  EXPECT_LT(run.gradients_of[7], run.gradients_of[0] / 2);
  EXPECT_LT(run.wall_s, 6.5);
}

TEST(Twin, ASumIsAsSlowAsItsSlowestProcessor) {
  TwinSetup setup = eight_workers(1, 0, 8 * 20);
  setup.jitter = 0;
  setup.conductor.architecture = Architecture::AllReduce;
  setup.sum_work_s = 0.03;
  EXPECT_NEAR(run_twin(setup).wall_s, 20 * (0.1 + 0.03), 1e-6);
  setup.script =
      parse_straggler_script("at 0s server 7 cpu 0.25", "script", 8, 1, std::chrono::seconds(100))
          .value();
  EXPECT_NEAR(run_twin(setup).wall_s, 20 * (0.4 + 0.12), 1e-6);
  setup.workers.resize(1);
  setup.conductor.samples_limit = 256 * 20;
  EXPECT_NEAR(run_twin(setup).wall_s, 20 * 0.1, 1e-6) << "one has nothing to sum";
}

TEST(Twin, AParentThatComputesHearsItsChildWhenItIsDone) {
  TwinSetup setup;
  setup.workers = {{.fixed_s = 0.1}, {.fixed_s = 0.001}};
  setup.conductor.architecture = Architecture::AllReduce;
  setup.conductor.global_batch = 64;
  setup.conductor.samples_limit = 64 * 50;
  setup.mode = {
      .rule = SyncRuleKind::Ring, .ring = {WorkerId{0}}, .parents = {{WorkerId{1}, WorkerId{0}}}};
  const TwinResult run = run_twin(setup);
  EXPECT_NEAR(static_cast<double>(run.gradients_of[1]), static_cast<double>(run.gradients_of[0]),
              2);
}

TEST(Twin, EveryModeGoesOnWhenWorkersDieAndJoin) {
  const std::vector<Mode> modes = {
      {},
      {.x = 1},
      {.x = 5},
      {.rule = SyncRuleKind::Ssp, .bound = 2},
      {.rule = SyncRuleKind::Lgc, .x = 6},
      {.rule = SyncRuleKind::ZenoPlus},
      {.rule = SyncRuleKind::Dynamic, .groups = {{WorkerId{0}, WorkerId{1}, WorkerId{2}}}},
      {.parents = {
           {WorkerId{1}, WorkerId{0}}, {WorkerId{2}, WorkerId{0}}, {WorkerId{4}, WorkerId{3}}}}};
  for (const Mode& mode : modes) {
    TwinSetup setup = eight_workers(4, 0, 4000);
    setup.mode = mode;
    setup.conductor.blocks = 4;
    setup.parameter_bytes = 1e5;
    setup.shards = {.gradient_s = 0.001, .bytes_per_s = 1e8};
    const auto at = [](double time_s) { return time_from_seconds(time_s); };
    setup.changes = {
        {at(1.23), 0, false}, {at(2.34), 3, false}, {at(3.01), 7, false}, {at(5), 6, true}};
    const TwinResult run = run_twin(setup);
    EXPECT_EQ(run.tally.ended, "as many samples as asked for were used")
        << mode_name(mode, 8) << " " << run.tally.counts.gradients;
  }
}

TEST(Twin, WhenNoWorkerIsLeftItEnds) {
  TwinSetup setup = eight_workers(1, 0, 4000);
  for (int i = 0; i < 8; ++i) setup.changes.push_back({Time(std::chrono::seconds(3)), i, false});
  EXPECT_EQ(run_twin(setup).tally.ended, "no worker is left");
}

TEST(Twin, TheTargetIsReachedSoonerWhereLessIsWaitedFor) {
  const auto time_to_target = [](int x, double lambda) {
    TwinSetup setup = eight_workers(4, x, 20000);
    setup.conductor.evaluate_every = 2048;
    setup.conductor.target_accuracy = 0.7;
    setup.convergence.staleness_cost = lambda;
    const TwinResult run = run_twin(setup);
    EXPECT_EQ(run.tally.ended, "the target was reached");
    return run.time_to_target_s.value_or(-1);
  };
  EXPECT_LT(time_to_target(7, 0.25), 0.5 * time_to_target(8, 0.25));
  EXPECT_LT(time_to_target(7, 0.25), time_to_target(1, 0.25)) << "staleness has its cost";
  EXPECT_LT(time_to_target(1, 0), time_to_target(7, 0)) << "and without it the fastest wins";
}

// Goes from SSGD to static-7 as soon as a worker is slow.
class Leaver final : public Director {
 public:
  void on_iteration(const IterationSample& sample) override {
    slow_ = slow_ || sample.usage.throttled_share > 0.5;
  }
  Mode direct(const Situation&) override { return {.x = slow_ ? 7 : 8}; }

 private:
  bool slow_ = false;
};

TEST(Twin, ADirectorSeesTheScriptAndChangesTheMode) {
  TwinSetup setup = eight_workers(1, 8, 4000);
  setup.script =
      parse_straggler_script("at 5s server 2 cpu 0.25", "script", 8, 1, std::chrono::seconds(100))
          .value();
  const TwinResult fixed = run_twin(setup);
  const TwinResult left = run_twin(setup, std::make_unique<Leaver>());
  EXPECT_EQ(left.tally.counts.mode_switches, 1);
  EXPECT_LT(left.wall_s, 0.5 * fixed.wall_s);
}

}  // namespace
}  // namespace orrery
