// The twin: events a second with hundreds of workers, under the real Conductor. The first argument
// is the number of workers, the second x (0: all).

#include <benchmark/benchmark.h>

#include <cstdint>

#include "training/mode_selection/director_by_name.h"
#include "training/twin/twin.h"

namespace orrery {
namespace {

TwinSetup many_workers(int workers) {
  TwinSetup setup;
  setup.workers.resize(static_cast<std::size_t>(workers),
                       {.fixed_s = 0.01, .per_sample_s = 0.001, .bytes_per_s = 1e9});
  setup.workers.back().per_sample_s = 0.004;
  setup.jitter = 0.05;
  setup.conductor.global_batch = 32 * workers;
  setup.conductor.samples_limit = std::int64_t{32} * 200'000;
  setup.conductor.evaluate_every = 32 * 2'000;
  return setup;
}

void count(benchmark::State& state, std::int64_t events, std::int64_t gradients) {
  state.counters["events"] =
      benchmark::Counter(static_cast<double>(events), benchmark::Counter::kIsRate);
  state.counters["gradients"] =
      benchmark::Counter(static_cast<double>(gradients), benchmark::Counter::kIsRate);
}

void BM_Computing(benchmark::State& state) {
  TwinSetup setup = many_workers(static_cast<int>(state.range(0)));
  for (TwinWorker& worker : setup.workers) worker.bytes_per_s = 0;
  setup.mode.x = static_cast<int>(state.range(1));
  std::int64_t events = 0, gradients = 0;
  for (auto _ : state) {
    const TwinResult run = run_twin(setup);
    events += run.events, gradients += run.tally.counts.gradients;
  }
  count(state, events, gradients);
}
BENCHMARK(BM_Computing)
    ->Args({8, 0})
    ->Args({8, 1})
    ->Args({256, 0})
    ->Args({256, 1})
    ->Args({1024, 700})
    ->Unit(benchmark::kMillisecond);

void BM_SharedLinks(benchmark::State& state) {
  TwinSetup setup = many_workers(static_cast<int>(state.range(0)));
  setup.parameter_bytes = 1e6;
  setup.shards = {.gradient_s = 1e-5, .bytes_per_s = 1e10};
  setup.mode.x = static_cast<int>(state.range(1));
  std::int64_t events = 0, gradients = 0;
  for (auto _ : state) {
    const TwinResult run = run_twin(setup);
    events += run.events, gradients += run.tally.counts.gradients;
  }
  count(state, events, gradients);
}
BENCHMARK(BM_SharedLinks)
    ->Args({8, 1})
    ->Args({256, 0})
    ->Args({256, 1})
    ->Unit(benchmark::kMillisecond);

void BM_Star(benchmark::State& state) {
  const int workers = static_cast<int>(state.range(0));
  const TwinSetup setup = many_workers(workers);
  std::int64_t events = 0, gradients = 0;
  for (auto _ : state) {
    const TwinResult run =
        run_twin(setup, director_by_name("star", 0, {.workers = workers}).value());
    events += run.events, gradients += run.tally.counts.gradients;
  }
  count(state, events, gradients);
}
BENCHMARK(BM_Star)->Args({8})->Args({256})->Unit(benchmark::kMillisecond);

}  // namespace
}  // namespace orrery
