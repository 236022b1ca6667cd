#pragma once

#include <span>
#include <string>
#include <vector>

#include "live/api/job_request.h"
#include "live/daemon/log/live.h"

namespace orrery {

// What the submitter of a job should know at once, in sentences: no set of the cluster's nodes can
// ever hold the job, its length is assumed, or the policy ignores its deadline.
std::vector<std::string> submit_warnings(const JobRequest& request, std::span<const LiveNode> nodes,
                                         const std::string& policy, Duration expected_default);

// Why these nodes could not hold the job, if all were idle; empty: they could, as far as totals of
// GPUs, CPUs and memory say. The rule of placement may still refuse it.
std::string never_fits(const JobRequest& request, std::span<const LiveNode> nodes);

}  // namespace orrery
