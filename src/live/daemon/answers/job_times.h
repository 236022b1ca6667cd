#pragma once

#include "live/daemon/log/live.h"

namespace orrery {

// How long a job ran in all its runs, as of `now`, without the time between them. A run that
// overlaps the next one, because its processes end late, counts until the next one begins.
Duration time_ran(const LiveJob& job, Time now);

}  // namespace orrery
