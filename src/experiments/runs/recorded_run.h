#pragma once

#include <memory>
#include <string>

#include "base/result.h"
#include "experiments/runs/runs.h"
#include "report/page/html.h"

namespace orrery {

// What an event log holds besides its events.
struct RecordedRun {
  RunDescription run;
  std::shared_ptr<const Workload> workload;  // the jobs that came
  std::shared_ptr<const Cluster> cluster;
  std::shared_ptr<const NodeScenario> nodes;  // what happened to them; null: they stayed
  ReportRun report;                           // what the events come to
  bool complete = false;  // the run went on until all its jobs, or those of its window, had ended
};

// Reads a log to its end. Besides what EventLogReader promises, the jobs are in order and within
// the bounds that hold for traces, so that they can be simulated.
Result<RecordedRun> read_recorded(const std::string& path);

// The same run again. Fails if the log does not say how it was made, or if it cannot be repeated.
Result<RunRequest> request_of(const RecordedRun& recorded, const std::string& path);

}  // namespace orrery
