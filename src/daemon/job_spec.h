#pragma once

#include <string>
#include <unordered_map>

#include "model/job.h"
#include "protocol/job_request.h"

namespace orrery {

struct SpecOptions {
  // How long a job is counted on to run that does not say. Policies that go by length see it.
  Duration expected_default = std::chrono::hours(1);
};

using NameIds = std::unordered_map<std::string, NameId>;

// Adds a job to the workload as the policies see it. Work is counted in seconds on the GPUs asked
// for: an iteration takes one. `array_index` is -1 for a job alone.
void add_spec(Workload& workload, NameIds& names, const JobRequest& request, int array_index,
              Time submitted, const SpecOptions& options);

// What it is called: the name asked for or that of the program, with its number in an array.
std::string job_name(const JobRequest& request, int array_index);

// Whose quota counts.
const std::string& tenant_of(const JobRequest& request);

}  // namespace orrery
