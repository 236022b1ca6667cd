#include "report/metrics/useful_work.h"

#include <algorithm>
#include <utility>

namespace orrery {
namespace {

const SpeedCurve* curve_of(const Workload* workload, CurveId curve) {
  if (workload == nullptr || curve == kNoCurve) return nullptr;
  return index(curve) < workload->curves.size() ? &workload->curves[index(curve)] : nullptr;
}

double speed_on(const SpeedCurve& curve, int gpus) {
  const auto point = std::ranges::lower_bound(curve.points, gpus, {}, &SpeedCurve::Point::gpus);
  return point != curve.points.end() && point->gpus == gpus ? point->iterations_per_s : 0;
}

double speed_on(const SpeedCurve& curve, int gpus, int nodes) {
  const auto key = [](const SpeedCurve::Spread& spread) {
    return std::pair(spread.gpus, spread.nodes);
  };
  const auto wanted = std::pair(gpus, nodes);
  const auto spread = std::ranges::lower_bound(curve.spreads, wanted, {}, key);
  const bool measured = spread != curve.spreads.end() && key(*spread) == wanted;
  return measured ? spread->iterations_per_s : speed_on(curve, gpus);
}

}  // namespace

double gpu_s_of_iteration(const Workload* workload, const JobSpec& spec) {
  const SpeedCurve* curve = curve_of(workload, spec.curve);
  const double alone = curve == nullptr ? 0 : speed_on(*curve, 1);
  return alone > 0 ? 1 / alone : spec.iteration_s * spec.gpus;
}

double iterations_per_s(const Workload* workload, CurveId curve, const Grant& grant) {
  const SpeedCurve* speeds = curve_of(workload, curve);
  const bool alone = grant.sharing == Sharing::Exclusive || grant.sharing == Sharing::Guaranteed;
  if (speeds == nullptr || !alone) return grant.iterations_per_s;
  const double speed =
      speed_on(*speeds, gpu_count(grant.devices), static_cast<int>(grant.devices.size()));
  return speed > 0 ? speed : grant.iterations_per_s;
}

}  // namespace orrery
