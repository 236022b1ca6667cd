#pragma once

#include <vector>

#include "base/result.h"
#include "live/client/command_context.h"

namespace orrery {

// Until all of them have ended; ok if all are Done. With `prints`, each end is a line on standard
// output. An interrupt ends the waiting and nothing else.
Status wait_for_jobs(std::vector<JobNumber> jobs, Client& client, const CommandContext& context,
                     bool prints);

// Until nothing is pending, running or settling, or `most` has passed.
Status wait_until_idle(Duration most, Client& client, const CommandContext& context);

}  // namespace orrery
