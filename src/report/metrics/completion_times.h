#pragma once

#include <vector>

#include "model/time.h"
#include "report/page/series.h"

namespace orrery {

// How long each job took from submission to completion, by JobId; kNotCompleted for a job that was
// rejected, failed, was cancelled or left, or that is outside the window. It may end before the
// last job.
using CompletionTimes = std::vector<Duration>;
inline constexpr Duration kNotCompleted = Duration::min();

// The times of the jobs that completed, in seconds, ascending.
std::vector<double> ascending_s(const CompletionTimes& times);

// The share of `jobs` that completed within a time after their submission. It ends at the share
// that completed at all. At most 200 points: at every completion time when there are few, and
// otherwise at times that grow by a constant factor, so that short jobs, which are
// most, are not in one step.
std::vector<Series::Point> distribution(const CompletionTimes& times, std::size_t jobs);

}  // namespace orrery
