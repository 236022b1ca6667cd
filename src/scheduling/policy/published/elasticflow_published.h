#pragma once

#include <memory>

#include "scheduling/policy/deadline/elastic.h"
#include "scheduling/policy/deadline/elastic_grants.h"

namespace orrery {

// The largest number of GPUs the released code gives a job: beyond it the job first gets slower.
// Models of one name get fewer whatever their profile says.
int published_most_gpus(const Workload& workload, const JobSpec& job);

// ElasticFlow without admission, as released: jobs that have started are placed before the others,
// and the next round is held at a change that was ever planned, even if it is planned no longer.
std::unique_ptr<Policy> make_elasticflow_open(const ElasticFlowOptions& options,
                                              std::unique_ptr<ElasticGrants> grants,
                                              const ReleasedClock* clock);

}  // namespace orrery
