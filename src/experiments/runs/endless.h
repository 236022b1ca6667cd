#pragma once

#include <functional>

#include "base/result.h"
#include "experiments/runs/runs.h"

namespace orrery {

// The requests of a call, where every trace without end has `drawn` jobs; 0: as many as it has by
// itself. They come in the same order whatever the number.
using PlanRuns = std::function<Result<std::vector<RunRequest>>(std::int64_t drawn)>;

struct EndlessOptions {
  std::int64_t first_draw = 0;
  std::int64_t most_drawn = 1'000'000;
};

// How many jobs to begin with for a window: enough for most runs, as some hours' jobs arrive while
// those of the window are at work.
EndlessOptions endless_for(const JobWindow& window);

// Makes the runs as if jobs arrived for ever. A run that has seen its last job arrive is repeated
// with twice as many, so that the results do not depend on how many were drawn. A run that is
// not done with the most that may be drawn is an error: its queue grows without end.
Result<RunsResult> make_endless_runs(const PlanRuns& plan, const EndlessOptions& endless,
                                     const RunsOptions& options);

}  // namespace orrery
