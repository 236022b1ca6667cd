#pragma once

#include <functional>
#include <string>
#include <unordered_map>

#include "live/api/job_request.h"
#include "model/job.h"

namespace orrery {

struct SpecOptions {
  // How long a job is counted on to run that does not say. Policies that go by length see it.
  Duration expected_default = std::chrono::hours(1);
  // Puts into a new request what was measured of the model it names; an error refuses it. Asked
  // once, as it is submitted, and kept in the log with it. Empty: nothing was measured.
  std::function<Status(JobRequest& request)> measure{};
  // Puts into a new job what else is known of its model: stage times, or its work in iterations of
  // that model. What these refer to is added to the workload's tables. The same request must always
  // find the same. Empty: nothing is.
  std::function<void(Workload& workload, JobSpec& spec, const JobRequest& request)> profile{};
};

using NameIds = std::unordered_map<std::string, NameId>;

// The place of a name among the workload's, where it is put if it is new. An empty one has none.
NameId name_id(Workload& workload, NameIds& names, const std::string& name);

// Adds a job to the workload as the policies see it. Work is counted in seconds on the GPUs asked
// for: an iteration takes one, and measured speeds are taken relative to that. `array_index` is -1
// for a job alone.
void add_spec(Workload& workload, NameIds& names, const JobRequest& request, int array_index,
              Time submitted, const SpecOptions& options);

// What it is called: the name asked for or that of the program, with its number in an array.
std::string job_name(const JobRequest& request, int array_index);

// The tenant whose quota counts.
const std::string& tenant_of(const JobRequest& request);

}  // namespace orrery
