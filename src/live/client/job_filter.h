#pragma once

#include <optional>
#include <string>
#include <vector>

#include "base/result.h"
#include "live/api/api_jobs.h"

namespace orrery {

// Which jobs are meant, where numbers do not say it. Every condition that is set must hold.
struct JobFilter {
  std::vector<JobState> states{};  // one of these
  std::string name{};              // a pattern of the shell, such as train-*
  std::string user{};              // the same

  bool empty() const { return states.empty() && name.empty() && user.empty(); }
  bool matches(const JobStatus& job) const;
  // True if it can only be met by jobs that have ended, or by these too.
  bool wants_ended() const;
};

// "pending" or "pending,running", in any case; nothing if one of the words is no state.
std::optional<std::vector<JobState>> parse_job_states(const std::string& text);

// "Pending, Running, ..." for messages.
std::string all_job_states();

}  // namespace orrery
