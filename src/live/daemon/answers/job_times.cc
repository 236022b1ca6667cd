#include "live/daemon/answers/job_times.h"

#include <algorithm>

namespace orrery {

Duration time_ran(const LiveJob& job, Time now) {
  if (job.runs.empty()) return {};
  Duration sum = job.runs.back().ran_before;
  for (std::size_t i = 0; i < job.runs.size(); ++i) {
    const EpochRun& run = job.runs[i];
    const bool is_on = std::ranges::any_of(
        job.launches, [&](const LiveLaunch& launch) { return launch.name.epoch == run.epoch; });
    Duration ran = is_on ? std::max(Duration::zero(), now - run.began) : run.ran;
    if (i + 1 < job.runs.size()) ran = std::min(ran, job.runs[i + 1].began - run.began);
    sum += ran;
  }
  return sum;
}

Duration time_unsaved(const LiveJob& job, Time now) {
  if (!job.wanted) return {};
  const Duration ran = job.ran_by(job.epoch, now);
  if (job.checkpointed < 0 || job.iteration <= 0) return ran;
  const double part = std::clamp(1 - job.checkpointed / job.iteration, 0.0, 1.0);
  return std::min(ran, from_seconds(seconds(time_ran(job, now)) * part));
}

}  // namespace orrery
