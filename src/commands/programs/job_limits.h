#pragma once

#include "commands/programs/commands.h"
#include "live/agent/agent_loop.h"

namespace orrery {

// Reads what was written; an error names the option.
Status set_job_limits(const JobLimitArguments& arguments, AgentOptions& options);

}  // namespace orrery
