#pragma once

#include "agent/agent_loop.h"
#include "service/commands.h"

namespace orrery {

// Reads what was written; an error names the option.
Status set_job_limits(const JobLimitArguments& arguments, AgentOptions& options);

}  // namespace orrery
