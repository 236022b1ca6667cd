#include "scheduling/prediction/speed_curve.h"

#include <algorithm>
#include <utility>

namespace orrery {

double speed_on(const Workload& workload, const JobSpec& job, int gpus) {
  if (job.curve == kNoCurve) return gpus == job.gpus ? 1 / job.iteration_s : 0;
  const auto& points = workload.curves[index(job.curve)].points;
  const auto point = std::ranges::lower_bound(points, gpus, {}, &SpeedCurve::Point::gpus);
  if (point != points.end() && point->gpus == gpus) return point->iterations_per_s;
  return gpus == job.gpus ? 1 / job.iteration_s : 0;
}

double speed_on(const Workload& workload, const JobSpec& job, int gpus, int nodes) {
  if (job.curve != kNoCurve) {
    const auto key = [](const SpeedCurve::Spread& spread) {
      return std::pair(spread.gpus, spread.nodes);
    };
    const auto& spreads = workload.curves[index(job.curve)].spreads;
    const auto wanted = std::pair(gpus, nodes);
    const auto spread = std::ranges::lower_bound(spreads, wanted, {}, key);
    if (spread != spreads.end() && key(*spread) == wanted) return spread->iterations_per_s;
  }
  return speed_on(workload, job, gpus);
}

int knee(const SpeedCurve& curve) {
  const auto best =
      std::ranges::max_element(curve.points, {}, &SpeedCurve::Point::iterations_per_s);
  return best == curve.points.end() ? 0 : best->gpus;
}

}  // namespace orrery
