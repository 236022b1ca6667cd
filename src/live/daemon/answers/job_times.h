#pragma once

#include "live/daemon/log/live.h"

namespace orrery {

// How long a job ran in all its runs, as of `now`, without the time between them. A run that
// overlaps the next one, because its processes end late, counts until the next one begins.
Duration time_ran(const LiveJob& job, Time now);

// How much of its running time a job would lose if its processes ended now without notice: what it
// ran since its last checkpoint, or since it was given devices if it has reported none. An estimate
// from the progress that it reported. Zero for a job that does not run.
Duration time_unsaved(const LiveJob& job, Time now);

}  // namespace orrery
