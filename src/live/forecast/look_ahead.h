#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "live/api/job_request.h"
#include "live/daemon/policy/job_spec.h"

namespace orrery {

struct AheadOptions {
  SpecOptions specs{};  // as the scheduler has them
  // What is to be otherwise than it is.
  std::string policy{};  // empty: as it is, with its options
  std::map<std::string, std::string> policy_options{};
  int nodes_more = 0;               // like the largest that is open
  std::optional<JobRequest> job{};  // one more, submitted now
  // Where looking ends.
  Duration horizon = std::chrono::hours(24 * 90);
  std::int64_t steps = 200'000;  // instants at which something happens
  bool starts_only = false;      // also once everybody who waits has begun
};

// What will happen if nothing unforeseen does: everybody takes as long as is expected of him, who
// is overdue a tenth of that, nobody fails, and nobody else comes.
struct Forecast {
  Time now{};
  Time until{};          // so far was looked
  bool is_whole = true;  // else what is not named here comes after `until`, if ever
  JobNumber more = 0;    // the number of AheadOptions::job
  struct Start {
    Time at{};
    std::vector<std::string> nodes{};
  };
  std::map<JobNumber, Start> starts{};  // the next one, of those that wait now
  std::map<JobNumber, Time> ends{};
  std::map<JobNumber, std::string> refused{};  // by the policy, and why
};

// Runs the scheduler itself forward from a situation, which is a snapshot, on a clock that jumps
// from one instant to the next. The same arguments give the same forecast. A policy that remembers
// more than the log says begins anew here, and may have decided otherwise.
Result<Forecast> look_ahead(const std::string& situation, const AheadOptions& options);

// Only when those that wait will start; who is not named waits longer than is looked.
Result<std::map<JobNumber, Time>> predicted_starts(const std::string& situation,
                                                   AheadOptions limits = {});

}  // namespace orrery
