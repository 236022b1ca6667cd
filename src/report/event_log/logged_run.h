#pragma once

#include <fmt/format.h>

#include <cstdint>
#include <map>
#include <optional>
#include <string>

#include "base/result.h"
#include "model/job_window.h"
#include "model/sensitivity.h"
#include "model/time.h"
#include "report/event_log/log_line.h"

namespace orrery {

// How the run behind an event log was set up, as far as the log itself does not show it: what it
// takes to make the run again.
struct LoggedRun {
  std::string policy;  // empty: not known, and then nothing else is
  std::map<std::string, std::string> options;
  std::string semantics;
  std::uint64_t seed = 0;
  Duration round{};
  double speed_error = 0;
  std::optional<JobWindow> window{};
  std::int64_t jobs = 0;  // of the whole workload; a run that stops early never sees the last ones

  bool operator==(const LoggedRun&) const = default;
};

void append_run(fmt::memory_buffer& out, const LoggedRun& run);
Status read_run(const LogLine& line, LoggedRun& run);

// The table of a sensitivity, as a log spells it out. One that is read has points that rise and a
// speed above 0 for each pair of them.
void append_sensitivity(fmt::memory_buffer& out, const Sensitivity& sensitivity);
Result<Sensitivity> read_sensitivity(const LogLine& line);

}  // namespace orrery
