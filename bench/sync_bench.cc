// How many gradients a second a Conductor deals with: tasks handed out, updates made, orders taken,
// in each mode and for few and many workers. The harness that drives it is in the figure.
#include <benchmark/benchmark.h>

#include "training/sync/intervals.h"
#include "training/sync/timed_harness.h"
#include "training/sync/ward.h"

namespace orrery {
namespace {

std::vector<double> times_of(int workers) {
  Random random(7);
  std::vector<double> times;
  for (int i = 0; i < workers; ++i) times.push_back(0.1 + 0.01 * random.uniform());
  times.back() = 0.4;
  return times;
}

Mode mode_of(std::int64_t kind, int workers) {
  switch (kind) {
    case 0:
      return {};
    case 1:
      return {.x = 1};
    case 2:
      return {.x = workers - 1};
    case 3: {
      Mode mode{.rule = SyncRuleKind::Dynamic};
      mode.groups.resize(4);
      for (int i = 0; i < workers; ++i) {
        mode.groups[static_cast<std::size_t>(i % 4)].push_back(WorkerId{i});
      }
      return mode;
    }
    case 4:
      return {.rule = SyncRuleKind::Ssp, .bound = 3};
    case 5:
      return {.rule = SyncRuleKind::Lgc, .x = workers - 2};
    case 6:
      return {.rule = SyncRuleKind::ZenoPlus};
    default:
      return {.rule = SyncRuleKind::Ring, .ring = {WorkerId{0}, WorkerId{1}, WorkerId{2}}};
  }
}

void gradients(benchmark::State& state) {
  const auto workers = static_cast<int>(state.range(1));
  const Mode mode = mode_of(state.range(0), workers);
  TimedHarness world({.global_batch = 32 * workers, .blocks = 8}, mode, times_of(workers), 0.03);
  for (int i = 0; i < 10 * workers; ++i) world.step();
  for (auto _ : state) world.step();
  state.SetItemsProcessed(state.iterations());
  state.SetLabel(mode_name(mode, workers).substr(0, 24));
}
BENCHMARK(gradients)->ArgsProduct({benchmark::CreateDenseRange(0, 7, 1), {8, 64, 1000}});

void predicting_all_static(benchmark::State& state) {
  const auto workers = static_cast<int>(state.range(0));
  const std::vector<double> times = times_of(workers);
  for (auto _ : state) {
    for (int x = 1; x <= workers; ++x) {
      benchmark::DoNotOptimize(static_pace(times, x, {.updates = 200}));
    }
  }
}
BENCHMARK(predicting_all_static)->Arg(8)->Arg(64);

void grouping(benchmark::State& state) {
  const std::vector<double> times = times_of(static_cast<int>(state.range(0)));
  for (auto _ : state) benchmark::DoNotOptimize(ward_groups(times));
}
BENCHMARK(grouping)->Arg(8)->Arg(1000);

}  // namespace
}  // namespace orrery
