#pragma once

#include <string_view>

#include "report/summary.h"

namespace orrery {

// Calls visit(name, value) for every field of `--json`: those of the contract in its order, then
// those that came later. JSON, CSV and the report's data all go through here, so a field cannot be
// in one and missing from another.
template <class Visit>
void for_each_field(const RunSummary& run, Visit visit) {
  visit("trace", run.trace);
  visit("policy", run.policy);
  visit("semantics", run.semantics);
  visit("cluster", run.cluster);
  visit("gpus", run.gpus);
  visit("jobs", run.jobs);
  visit("completed", run.completed);
  visit("rejected", run.rejected);
  visit("failed", run.failed);
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
  visit("starts", run.starts);
  visit("preemptions", run.preemptions);
  visit("moves", run.moves);
  visit("events", run.events);
  visit("cpu_s", run.cpu_s);
  visit("wall_s", run.wall_s);
  visit("peak_mb", run.peak_mb);
  visit("cancelled", run.cancelled);
  visit("resizes", run.resizes);
  visit("promises", run.promises);
  visit("promises_broken", run.promises_broken);
  visit("admitted_gpu_s", run.admitted_gpu_s);
  visit("soft_value_won", run.soft_value_won);
  visit("best_effort_avg_jct_s", run.best_effort_avg_jct_s);
  visit("cpu_utilisation", run.cpu_utilisation);
  visit("memory_utilisation", run.memory_utilisation);
  visit("rounds", run.rounds);
}

}  // namespace orrery
