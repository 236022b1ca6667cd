// What the Conductor does over time: as often and as stale as the formulas say, and to the bit what
// one process would do.
#include <gtest/gtest.h>

#include <algorithm>
#include <bit>
#include <numeric>

#include "training/sync/intervals.h"
#include "training/sync/timed_harness.h"

namespace orrery {
namespace {

std::vector<double> random_times(Random& random, int workers) {
  std::vector<double> times;
  for (int i = 0; i < workers; ++i) times.push_back(0.01 + random.exponential(0.1));
  return times;
}

TEST(ConductorPace, MeanStalenessOfStaticXIsNOverXMinusOneForAnyTimes) {
  Random random(11);
  for (int round = 0; round < 60; ++round) {
    const int n = static_cast<int>(random.between(1, 12));
    const int x = static_cast<int>(random.between(1, n));
    TimedHarness world({.global_batch = 60}, {.x = x}, random_times(random, n), 0.5,
                       static_cast<std::uint64_t>(round));
    // Updates since each worker's newest gradient: the part of the tiling that has not ended yet.
    std::vector<ParameterVersion> newest(static_cast<std::size_t>(n), 0);
    world.workers.on_update = [&](const ApplyUpdate& order) {
      ASSERT_EQ(std::ssize(order.tasks), x);
      for (const Task& task : order.tasks) {
        newest[static_cast<std::size_t>(task.worker)] = order.update.version;
      }
    };
    world.run_updates(500);
    const ConductorCounts& counts = world.conductor->counts();
    std::int64_t open = 0;
    for (const ParameterVersion version : newest) open += counts.updates - version;
    EXPECT_EQ(counts.gradients, x * counts.updates);
    EXPECT_EQ(counts.staleness_sum + counts.gradients + open, n * counts.updates);
  }
}

struct Case {
  const char* name;
  Mode mode;
  Architecture architecture = Architecture::ParameterServers;
  double sum_s = 0;
};

TEST(ConductorPace, IsWhatIsPredicted) {
  const std::vector<double> times{0.1, 0.103, 0.098, 0.101, 0.35, 0.107, 0.12, 0.72};
  std::vector<WorkerId> workers;
  for (int i = 0; i < 8; ++i) workers.push_back(WorkerId{i});
  std::vector<Case> cases;
  for (int x = 1; x <= 8; ++x) cases.push_back({"static", {.x = x}});
  for (int k = 2; k <= 8; k += 2) cases.push_back({"lgc", {.rule = SyncRuleKind::Lgc, .x = k}});
  for (const int bound : {0, 2, 8}) {
    cases.push_back({"ssp", {.rule = SyncRuleKind::Ssp, .bound = bound}});
  }
  cases.push_back(
      {"dynamic",
       {.rule = SyncRuleKind::Dynamic,
        .groups = {{workers[0], workers[1], workers[2], workers[3]}, {workers[5], workers[6]}}}});
  cases.push_back({"zeno", {.rule = SyncRuleKind::ZenoPlus}});
  cases.push_back({"ring",
                   {.rule = SyncRuleKind::Ring,
                    .ring = {workers[0], workers[1], workers[2], workers[3], workers[5]}},
                   Architecture::AllReduce});
  for (const double sum_s : {0.0233, 0.1371}) {
    cases.push_back({"ring whose sums take time",
                     {.rule = SyncRuleKind::Ring, .ring = {workers[1], workers[6]}},
                     Architecture::AllReduce,
                     sum_s});
  }
  for (const Case& one : cases) {
    for (const double jitter : {0.0, 0.05}) {
      TimedHarness world({.architecture = one.architecture, .global_batch = 64, .blocks = 4},
                         one.mode, times, jitter);
      world.workers.sum_s = [&one] { return one.sum_s; };
      world.run_updates(400);
      const double from_s = world.now_s;
      const std::int64_t before = world.conductor->counts().gradients;
      const std::int64_t stale_before = world.conductor->counts().staleness_sum;
      world.run_updates(4400);
      const double interval = (world.now_s - from_s) / 4000;
      const auto gradients = static_cast<double>(world.conductor->counts().gradients - before);
      const Pace pace =
          predict_pace(one.mode, workers, times,
                       {.jitter = jitter, .updates = 4000, .blocks = 4, .sum_s = one.sum_s});
      const std::string where = mode_name(one.mode, 8) + ", jitter " + std::to_string(jitter);
      EXPECT_NEAR(pace.interval_s, interval, 0.01 * interval) << where;
      if (one.mode.rule == SyncRuleKind::Lgc) continue;  // counts parts of gradients as parts
      const auto stale =
          static_cast<double>(world.conductor->counts().staleness_sum - stale_before);
      EXPECT_NEAR(pace.gradients_per_s * interval * 4000, gradients, 0.01 * gradients) << where;
      EXPECT_NEAR(pace.mean_staleness, stale / gradients, 0.02 * (1 + stale / gradients)) << where;
    }
  }
}

TEST(ConductorPace, EverySampleWeighsTheSameInEveryMode) {
  const std::vector<double> times{0.1, 0.11, 0.3, 0.1};
  const std::vector<WorkerId> pair{WorkerId{0}, WorkerId{3}};
  std::vector<Mode> modes{{}, {.x = 1}, {.x = 3}};
  modes.push_back({.rule = SyncRuleKind::Dynamic, .groups = {pair}});
  modes.push_back({.rule = SyncRuleKind::Ssp, .bound = 2});
  modes.push_back({.rule = SyncRuleKind::Ring, .ring = pair});
  modes.push_back({.shares = {{WorkerId{2}, 0.1}}});
  for (const Mode& mode : modes) {
    TimedHarness world({.global_batch = 10}, mode, times, 0.2);
    double weight = 0;
    std::int64_t samples = 0;
    world.workers.on_update = [&](const ApplyUpdate& order) {
      for (const Term& term : order.update.terms) weight += term.weight;
      for (const Task& task : order.tasks) samples += task.samples.count;
    };
    while (samples < 3000) world.step();
    EXPECT_NEAR(weight, static_cast<double>(samples) / 10, 1e-9) << mode_name(mode, 4);
  }
}

constexpr std::size_t kParameters = 37;
using Parameters = std::vector<float>;

// A made-up mean gradient that depends on every sample and on the parameters, in floats.
Parameters made_up_gradient(const Parameters& at, Samples samples) {
  Parameters sum(kParameters, 0.0F);
  for (std::int64_t i = 0; i < samples.count; ++i) {
    Random random(static_cast<std::uint64_t>(samples.first + i));
    for (std::size_t k = 0; k < kParameters; ++k) {
      sum[k] += (at[k] - static_cast<float>(random.normal())) * (1.0F + 0.1F * at[(k + 1) % 37]);
    }
  }
  for (float& value : sum) value /= static_cast<float>(samples.count);
  return sum;
}

void apply(Parameters& parameters, double rate, const std::vector<double>& weights,
           const std::vector<Parameters>& gradients) {
  Parameters step(kParameters, 0.0F);
  for (std::size_t t = 0; t < gradients.size(); ++t) {
    for (std::size_t k = 0; k < kParameters; ++k) {
      step[k] += static_cast<float>(weights[t]) * gradients[t][k];
    }
  }
  for (std::size_t k = 0; k < kParameters; ++k) parameters[k] -= static_cast<float>(rate) * step[k];
}

TEST(ConductorPace, WithAllWorkersTheParametersAreThoseOfOneProcessToTheBit) {
  constexpr int kWorkers = 5, kBatch = 48, kUpdates = 60;
  Parameters alone(kParameters, 0.5F);
  std::int64_t next = 0;
  for (int update = 0; update < kUpdates; ++update) {
    std::vector<Parameters> gradients;
    std::vector<double> weights;
    for (int part = 0; part < kWorkers; ++part) {
      const std::int32_t count = kBatch / kWorkers + (part < kBatch % kWorkers ? 1 : 0);
      gradients.push_back(made_up_gradient(alone, {next, count}));
      weights.push_back(static_cast<double>(count) / kBatch);
      next += count;
    }
    apply(alone, 0.1, weights, gradients);
  }
  for (std::uint64_t seed = 1; seed <= 5; ++seed) {
    Parameters together(kParameters, 0.5F);
    TimedHarness world({.global_batch = kBatch}, {}, std::vector<double>(kWorkers, 0.1), 0.5, seed);
    world.workers.on_update = [&](const ApplyUpdate& order) {
      std::vector<Parameters> gradients;
      std::vector<double> weights;
      for (const Task& task : order.tasks) {
        gradients.push_back(made_up_gradient(together, task.samples));
      }
      for (const Term& term : order.update.terms) weights.push_back(term.weight);
      apply(together, order.update.rate, weights, gradients);
    };
    world.run_updates(kUpdates);
    const auto bits = [](float value) { return std::bit_cast<std::uint32_t>(value); };
    EXPECT_TRUE(std::ranges::equal(alone, together, {}, bits, bits)) << seed;
  }
}

}  // namespace
}  // namespace orrery
