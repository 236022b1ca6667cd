// Whole simulations, one thread. The published simulator's CPU seconds are those of its own runs,
// given with the reference data; `ratio` is how many times faster this is. Traces are read once,
// outside the measurement. Set ORRERY_DATA to the folder that holds muri/ and elasticflow/.
#include <benchmark/benchmark.h>

#include <cstdlib>
#include <map>
#include <string>

#include "report/metrics/metrics.h"
#include "simulation/kernel/simulation.h"
#include "workload/clusters/cluster_spec.h"
#include "workload/generators/generate.h"

namespace orrery {
namespace {

struct Case {
  const char* trace;
  const char* policy;
  double reference_s;  // 0: the published simulator was not run to its end
};

constexpr Case kCases[] = {
    {"trace3", "srtf", 0.805937},    {"trace3", "srsf", 0.708524},
    {"trace3", "las", 0.976995},     {"trace3", "antman", 0.943556},
    {"trace3", "themis", 1.590852},  {"trace3", "muri-s", 25.349686},
    {"trace3", "muri-l", 26.406640}, {"trace4", "srtf", 6.768431},
    {"trace4", "srsf", 5.465136},    {"trace4", "las", 9.298385},
    {"trace4", "muri-l", 0},         {"trace4", "muri-s", 0},
    {"trace1_pr", "muri-l", 0},      {"trace1_pr", "muri-s", 0},
};

struct ElasticCase {
  const char* trace;
  const char* cluster;
  const char* gpu_type;
  int slot_s;
  double reference_s;
};

constexpr ElasticCase kElasticCases[] = {
    {"elasticVpollux_e", "n16g4", "T4", 60, 6.45},
    {"1000job_1500lam", "n8g8", "A100", 240, 43.90},
    {"1000job_1500lam", "n16g8", "A100", 240, 35.03},
    {"1000job_1500lam", "n32g8", "A100", 240, 22.58},
};

std::string data_folder() {
  const char* given = std::getenv("ORRERY_DATA");
  return given != nullptr ? given : ORRERY_SOURCE "/../shared/data";
}

void published(benchmark::State& state, const Case& which) {
  const std::string folder = data_folder() + "/muri/";
  const auto workload = read_trace(folder + which.trace + ".csv");
  const auto cluster = read_cluster("8x8");
  if (!workload.ok() || !cluster.ok()) {
    state.SkipWithError("the trace is not there; set ORRERY_DATA");
    return;
  }
  SimulationSetup setup;
  setup.workload = &workload.value();
  setup.cluster = &cluster.value();
  setup.run.policy.name = which.policy;
  setup.run.semantics = SemanticsKind::Muri;
  for (auto _ : state) {
    Metrics metrics({.cluster = *setup.cluster, .workload = setup.workload, .window = {}});
    const auto outcome = simulate(setup, metrics);
    benchmark::DoNotOptimize(outcome.ok());
  }
  if (which.reference_s == 0) return;
  const auto runs = static_cast<double>(state.iterations());
  state.counters["ratio"] =
      benchmark::Counter(which.reference_s * runs, benchmark::Counter::kIsRate);
}

// In the published world; `released` is every quirk of the released scheduler, otherwise ours.
void elasticflow(benchmark::State& state, const ElasticCase& which, bool released) {
  const std::string folder = data_folder() + "/elasticflow/";
  const auto workload = read_trace(
      folder + "traces/" + which.trace + ".csv",
      {.profiles = folder + "throughputs_" + which.gpu_type, .gpu_type = which.gpu_type});
  const auto cluster = read_cluster(folder + "cluster_specs/" + which.cluster + ".csv");
  if (!workload.ok() || !cluster.ok()) {
    state.SkipWithError("the trace is not there; set ORRERY_DATA");
    return;
  }
  SimulationSetup setup;
  setup.workload = &workload.value();
  setup.cluster = &cluster.value();
  setup.run.policy.name = "elasticflow";
  if (released) setup.run.policy.options = {{"scale-up", "reference"}, {"admission", "batch"}};
  setup.run.semantics = SemanticsKind::ElasticFlow;
  setup.run.policy.round = std::chrono::seconds(which.slot_s);
  for (auto _ : state) {
    Metrics metrics({.cluster = *setup.cluster, .workload = setup.workload, .window = {}});
    const auto outcome = simulate(setup, metrics);
    benchmark::DoNotOptimize(outcome.ok());
  }
  const auto runs = static_cast<double>(state.iterations());
  state.counters["ratio"] =
      benchmark::Counter(which.reference_s * runs, benchmark::Counter::kIsRate);
}

void generated(benchmark::State& state, const char* policy, const char* load) {
  const auto workload = generate(
      "philly-like",
      {{"jobs", std::to_string(state.range(0))}, {"seed", "1"}, {"gpus", "10000"}, {"load", load}});
  const auto cluster = read_cluster("1250x8");
  SimulationSetup setup;
  setup.workload = &workload.value();
  setup.cluster = &cluster.value();
  setup.run.policy.name = policy;
  for (auto _ : state) {
    Metrics metrics({.cluster = *setup.cluster, .workload = setup.workload, .window = {}});
    const auto outcome = simulate(setup, metrics);
    benchmark::DoNotOptimize(outcome.ok());
  }
  state.counters["jobs/s"] = benchmark::Counter(
      static_cast<double>(state.range(0)) * static_cast<double>(state.iterations()),
      benchmark::Counter::kIsRate);
}

const bool kRegistered = [] {
  for (const Case& which : kCases) {
    const std::string name = std::string("published/") + which.trace + "/" + which.policy;
    benchmark::RegisterBenchmark(name.c_str(), published, which)->Unit(benchmark::kMillisecond);
  }
  for (const ElasticCase& which : kElasticCases) {
    for (const bool released : {false, true}) {
      const std::string name = std::string("elasticflow/") + which.trace + "/" + which.cluster +
                               (released ? "/released" : "/ours");
      benchmark::RegisterBenchmark(name.c_str(), elasticflow, which, released)
          ->Unit(benchmark::kMillisecond);
    }
  }
  for (const char* policy : {"fifo", "srtf", "las", "muri-l"}) {
    const std::string name = std::string("philly-like/load0.8/") + policy;
    benchmark::RegisterBenchmark(name.c_str(), generated, policy, "0.8")
        ->Arg(100'000)
        ->Unit(benchmark::kMillisecond);
  }
  return true;
}();

}  // namespace
}  // namespace orrery
