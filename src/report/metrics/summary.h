#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace orrery {

// How far a run came.
enum class RunStatus : std::uint8_t {
  Complete,
  Interrupted,  // it was stopped before its jobs had ended; its figures are those until then
  NotRun,       // it was stopped before it began
};
std::string_view to_string(RunStatus status);

// Figures over the jobs that two runs both completed.
struct CommonFigures {
  std::optional<double> avg_jct_s;
  std::optional<double> p50_jct_s;
  std::optional<double> p99_jct_s;
  std::optional<double> makespan_s;
};

// What one run came to: the fields of `--json`, defined one by one in docs/formats/summary.md. A
// figure that has no meaning in a run is empty, never 0.
struct RunSummary {
  // Filled by make_runs().
  std::string trace;
  std::string policy;
  std::string semantics;
  std::string cluster;

  // Filled by Metrics.
  std::int64_t gpus = 0;
  std::int64_t jobs = 0;
  std::int64_t completed = 0;
  std::int64_t rejected = 0;
  std::int64_t failed = 0;
  std::optional<double> avg_jct_s;
  std::optional<double> p50_jct_s;
  std::optional<double> p95_jct_s;
  std::optional<double> p99_jct_s;
  std::optional<double> max_jct_s;
  std::optional<double> makespan_s;
  std::optional<double> avg_wait_s;
  std::optional<double> avg_queue;
  std::optional<std::int64_t> max_queue;
  std::optional<double> deadline_ratio;
  std::optional<std::int64_t> deadlines_met;
  std::optional<double> cluster_efficiency;
  std::optional<double> gpu_utilisation;
  std::int64_t starts = 0;
  std::int64_t preemptions = 0;
  std::int64_t moves = 0;
  std::int64_t events = 0;

  // Filled by make_runs(): the cost on the machine that ran it.
  std::optional<double> cpu_s;
  std::optional<double> wall_s;
  std::optional<double> peak_mb;

  // Filled by Metrics; came after the contract, and stand after it.
  std::int64_t cancelled = 0;
  std::int64_t resizes = 0;
  std::optional<std::int64_t> promises;
  std::optional<std::int64_t> promises_broken;
  std::optional<double> admitted_gpu_s;
  std::optional<double> soft_value_won;
  std::optional<double> best_effort_avg_jct_s;
  std::optional<double> cpu_utilisation;
  std::optional<double> memory_utilisation;

  // Filled by make_runs().
  std::optional<std::int64_t> rounds;
  RunStatus status = RunStatus::Complete;
  std::int64_t left = 0;  // jobs without an end: running, waiting or not yet submitted

  // Filled by Metrics.
  std::int64_t too_large = 0;  // of the rejected: jobs that the whole cluster could not hold

  // Filled by compare_common_jobs(); empty for the first run of a trace.
  std::optional<std::int64_t> common_jobs;
  CommonFigures common;        // of this run
  CommonFigures first_common;  // of the first run, over the same jobs

  // Filled by make_runs(): what makes the figures mean less than they seem to.
  std::vector<std::string> warnings;

  // Filled by Metrics; empty unless nodes come and go in the run.
  std::optional<double> goodput;
  std::optional<double> lost_gpu_h;
  std::optional<std::int64_t> fault_restarts;
  std::optional<std::int64_t> nodes_lost;
  std::optional<double> node_downtime_h;
  std::optional<double> cost;
  std::optional<double> cost_on_demand;

  // Filled by Metrics.
  std::optional<double> avg_rho;
  std::optional<double> max_rho;
  std::optional<double> unfair_ratio;
  std::optional<double> jain_index;
  // Filled by Metrics: from the first submission to the last, without the drain after it.
  std::optional<double> arrivals_gpu_utilisation;
  std::optional<double> arrivals_cluster_efficiency;
};

}  // namespace orrery
