#include "scheduling/policy/deadline/job_levels.h"

#include <algorithm>

namespace orrery {

Levels::Levels(const Workload& workload, const JobSpec& job, int most) : gpus_{0}, speed_{0} {
  if (job.curve != kNoCurve) {
    for (const SpeedCurve::Point& point : workload.curves[index(job.curve)].points) {
      if (point.gpus > most) break;
      gpus_.push_back(point.gpus);
      speed_.push_back(point.iterations_per_s);
    }
  }
  if (gpus_.size() == 1) {
    gpus_.push_back(job.gpus);
    speed_.push_back(1 / job.iteration_s);
  }
  fit_.resize(static_cast<std::size_t>(gpus_.back()));
  for (std::size_t level = 0; level + 1 < gpus_.size(); ++level) {
    std::fill(fit_.begin() + gpus_[level], fit_.begin() + gpus_[level + 1],
              static_cast<std::uint8_t>(level));
  }
}

}  // namespace orrery
