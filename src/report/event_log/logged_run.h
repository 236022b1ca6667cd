#pragma once

#include <fmt/format.h>

#include "base/result.h"
#include "model/run_description.h"
#include "model/sensitivity.h"
#include "report/event_log/log_line.h"

namespace orrery {

// How the run behind an event log was set up. A log without it reads as a run without a policy.
void append_run(fmt::memory_buffer& out, const RunDescription& run);
Status read_run(const LogLine& line, RunDescription& run);

// The table of a sensitivity, as a log spells it out. One that is read has points that rise and a
// speed above 0 for each pair of them.
void append_sensitivity(fmt::memory_buffer& out, const Sensitivity& sensitivity);
Result<Sensitivity> read_sensitivity(const LogLine& line);

}  // namespace orrery
