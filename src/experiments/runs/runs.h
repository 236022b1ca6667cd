#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "base/result.h"
#include "experiments/runs/scenario.h"
#include "report/metrics/metrics.h"
#include "report/page/html.h"
#include "simulation/kernel/simulation.h"

namespace orrery {

// One run to be made.
struct RunRequest {
  std::shared_ptr<const Workload> workload;
  std::shared_ptr<const Cluster> cluster;
  RunDescription run{};
  // With run.faults: what happens to nodes. See set_scenario().
  std::shared_ptr<const NodeScenario> nodes{};
  std::string label{};            // the policy as it is to be shown
  bool from_log = false;          // the workload comes from a log of the same world
  std::string events{};           // file for the log; empty: none
  bool series = false;            // record what the report draws
  bool jobs = false;              // keep what became of each job
  bool goes_on = false;           // the workload is the beginning of one without end
  EventSink* listener = nullptr;  // gets every event too, on the thread of the run; may be null
};

// Nodes come and go in the run as the scenario says; null: they stay.
void set_scenario(RunRequest& request, std::shared_ptr<const NodeScenario> nodes);

struct RunsOptions {
  int threads = 0;  // 0: one a core
  bool progress = true;
};

// Makes one run of those that share a page; `ended` counts jobs that have ended.
Result<ReportRun> make_run(const RunRequest& request, std::atomic<std::int64_t>& ended,
                           std::size_t runs_of_page = 1);

// Calls work(i) for every i below `count`, several at a time, in rising order. Ends with the first
// error.
Status for_each_on_threads(std::size_t count, int threads,
                           const std::function<Status(std::size_t)>& work);

// Fails if the policy or an option of a request does not exist. Runs nothing.
Status check_setup(const RunRequest& request);

// Makes all runs, several at a time, and answers them in the order asked for. Ctrl-C ends them
// where they are: `interrupted` says so, and the results are what is known so far.
struct RunsResult {
  std::vector<ReportRun> runs;
  bool interrupted = false;
};
Result<RunsResult> make_runs(std::span<const RunRequest> requests, const RunsOptions& options);

}  // namespace orrery
