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

// By the rule of most published simulators: no interpolation, and the index rounded down. With
// `interpolates`, between the two nearest. There is at least one time.
double quantile_s(const std::vector<Duration>& sorted, double q, bool interpolates);

// The share of `jobs` that completed within a time after their submission. It ends at the share
// that completed at all. At most 200 points: at every completion time when there are few, and
// otherwise at times that grow by a constant factor, so that short jobs, where most are, are not
// crowded into one step.
std::vector<Series::Point> distribution(const CompletionTimes& times, std::size_t jobs);

}  // namespace orrery
