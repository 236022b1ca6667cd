#include <algorithm>

#include "scheduling/policy/deadline/elastic.h"
#include "scheduling/prediction/speed_curve.h"

namespace orrery {

int most_gpus(const Workload& workload, const JobSpec& job, const ElasticLimits& limits) {
  if (job.curve == kNoCurve) return job.gpus;
  const SpeedCurve& curve = workload.curves[index(job.curve)];
  int most = knee(curve);
  if (limits.first_fall) {
    for (std::size_t i = 1; i < curve.points.size(); ++i) {
      if (curve.points[i].iterations_per_s >= curve.points[i - 1].iterations_per_s) continue;
      most = curve.points[i - 1].gpus;
      break;
    }
  }
  for (const ElasticLimits::Cap& cap : limits.caps) {
    if (cap.model == workload.name_of(job.model)) most = std::min(most, cap.gpus);
  }
  return most;
}

}  // namespace orrery
