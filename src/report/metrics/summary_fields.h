#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "report/metrics/summary.h"

namespace orrery {

// Figures about nodes that come and go, about fairness, and about the span of arrivals.
template <class Visit>
void for_each_figure_of_nodes_and_shares(const RunSummary& run, Visit& visit) {
  visit("goodput", run.goodput);
  visit("lost_gpu_h", run.lost_gpu_h);
  visit("fault_restarts", run.fault_restarts);
  visit("nodes_lost", run.nodes_lost);
  visit("node_downtime_h", run.node_downtime_h);
  visit("cost", run.cost);
  visit("cost_on_demand", run.cost_on_demand);
  visit("avg_rho", run.avg_rho);
  visit("max_rho", run.max_rho);
  visit("unfair_ratio", run.unfair_ratio);
  visit("jain_index", run.jain_index);
  visit("arrivals_gpu_utilisation", run.arrivals_gpu_utilisation);
  visit("arrivals_cluster_efficiency", run.arrivals_cluster_efficiency);
}

// Calls visit(name, value) for every field of `--json`: those of the contract in its order, then
// those that came later. JSON, CSV and the report's data all go through here, so a field cannot be
// in one and missing from another.
template <class Visit>
void for_each_field(const RunSummary& run, Visit visit) {
  // A run that never began has counted nothing, which is not 0.
  const auto count = [&](std::int64_t value) {
    return run.status == RunStatus::NotRun ? std::optional<std::int64_t>() : std::optional(value);
  };
  visit("trace", run.trace);
  visit("policy", run.policy);
  visit("semantics", run.semantics);
  visit("cluster", run.cluster);
  visit("gpus", run.gpus);
  visit("jobs", count(run.jobs));
  visit("completed", count(run.completed));
  visit("rejected", count(run.rejected));
  visit("failed", count(run.failed));
  visit("avg_jct_s", run.avg_jct_s);
  visit("p50_jct_s", run.p50_jct_s);
  visit("p95_jct_s", run.p95_jct_s);
  visit("p99_jct_s", run.p99_jct_s);
  visit("max_jct_s", run.max_jct_s);
  visit("makespan_s", run.makespan_s);
  visit("avg_wait_s", run.avg_wait_s);
  visit("avg_queue", run.avg_queue);
  visit("max_queue", run.max_queue);
  visit("deadline_ratio", run.deadline_ratio);
  visit("deadlines_met", run.deadlines_met);
  visit("cluster_efficiency", run.cluster_efficiency);
  visit("gpu_utilisation", run.gpu_utilisation);
  visit("starts", count(run.starts));
  visit("preemptions", count(run.preemptions));
  visit("moves", count(run.moves));
  visit("events", count(run.events));
  visit("cpu_s", run.cpu_s);
  visit("wall_s", run.wall_s);
  visit("peak_mb", run.peak_mb);
  visit("cancelled", count(run.cancelled));
  visit("resizes", count(run.resizes));
  visit("promises", run.promises);
  visit("promises_broken", run.promises_broken);
  visit("admitted_gpu_s", run.admitted_gpu_s);
  visit("soft_value_won", run.soft_value_won);
  visit("best_effort_avg_jct_s", run.best_effort_avg_jct_s);
  visit("cpu_utilisation", run.cpu_utilisation);
  visit("memory_utilisation", run.memory_utilisation);
  visit("rounds", run.rounds);
  visit("status", std::string(to_string(run.status)));
  visit("left", count(run.left));
  visit("too_large", count(run.too_large));
  visit("common_jobs", run.common_jobs);
  visit("common_avg_jct_s", run.common.avg_jct_s);
  visit("common_p50_jct_s", run.common.p50_jct_s);
  visit("common_p99_jct_s", run.common.p99_jct_s);
  visit("common_makespan_s", run.common.makespan_s);
  visit("first_common_avg_jct_s", run.first_common.avg_jct_s);
  visit("first_common_p50_jct_s", run.first_common.p50_jct_s);
  visit("first_common_p99_jct_s", run.first_common.p99_jct_s);
  visit("first_common_makespan_s", run.first_common.makespan_s);
  visit("warnings", run.warnings);
  for_each_figure_of_nodes_and_shares(run, visit);
}

}  // namespace orrery
