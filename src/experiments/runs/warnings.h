#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "experiments/runs/scenario.h"
#include "model/cluster.h"
#include "model/job.h"
#include "report/metrics/summary.h"
#include "report/page/html.h"

namespace orrery {

// What the policy would need to know of these jobs and does not, or what of them it does not
// regard: one sentence each, with the numbers. Empty for a policy that does not exist.
std::vector<std::string> data_warnings(const Workload& workload, std::string_view policy);

// Adds what only the run shows: jobs that the whole cluster cannot hold.
void add_warnings(const Cluster& cluster, RunSummary& run);

// Adds that the run went on after what is known of its nodes.
void add_scenario_warning(const NodeScenario& nodes, RunSummary& run);

// Each different warning of the runs on a line of its own, with trace and policy in front.
std::string warning_lines(std::span<const ReportRun> runs);

}  // namespace orrery
