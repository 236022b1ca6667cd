#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "live/api/job_request.h"
#include "live/daemon/policy/job_spec.h"

namespace orrery {

struct ForecastOptions {
  SpecOptions specs{};  // as the scheduler has them
  // What is to differ from the situation.
  std::string policy{};  // empty: as it is, with its options
  std::map<std::string, std::string> policy_options{};
  int nodes_more = 0;               // like the largest that is open
  std::optional<JobRequest> job{};  // one more, submitted now
  // Where the forecast ends.
  Duration horizon = std::chrono::hours(24 * 90);
  std::int64_t steps = 200'000;  // instants at which something happens
  bool starts_only = false;      // also once every waiting job has begun
};

// What will happen if each job takes as long as expected, an overdue one a tenth of that more, no
// process or node fails, and no other job is submitted.
struct Forecast {
  Time now{};
  Time until{};          // where the forecast ends
  bool is_whole = true;  // else what is not named here comes after `until`, if ever
  JobNumber more = 0;    // the number of ForecastOptions::job
  struct Start {
    Time at{};
    std::vector<std::string> nodes{};
  };
  std::map<JobNumber, Start> starts{};  // the next one, of jobs that wait now
  std::map<JobNumber, Time> ends{};
  std::map<JobNumber, std::string> refused{};  // by the policy, and why
  // Jobs that run now without a reported checkpoint, and would be stopped, moved or resized: the
  // work that each loses.
  std::map<JobNumber, Duration> lost{};
};

// Runs the scheduler itself forward from a situation, which is a snapshot, on a clock that jumps
// from one instant to the next. The same arguments give the same forecast. A policy that remembers
// more than the log says begins without memory here, and may have decided otherwise.
Result<Forecast> make_forecast(const std::string& situation, const ForecastOptions& options);

// Only when waiting jobs will start; a job that is not named waits beyond the end of the forecast.
Result<std::map<JobNumber, Time>> predicted_starts(const std::string& situation,
                                                   ForecastOptions limits = {});

}  // namespace orrery
