#include "scheduling/prediction/optimistic_profile.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "base/invariant.h"

namespace orrery {
namespace {

// What of the tolerance is left to the shape of the curve between two points, and how many standard
// deviations of a point's mean must fit into all of it.
constexpr double kShape = 0.5;
constexpr double kDeviations = 6;

// What is known of the speed over one axis of CPUs.
class CpuCurve {
 public:
  CpuCurve(const std::vector<std::int64_t>& cpu_milli, const MeasureSpeed& measure)
      : cpu_milli_(cpu_milli), measure_(measure), points_(cpu_milli.size()) {}

  Status measure(std::size_t at) {
    TRY_ASSIGN(const double speed, measure_(cpu_milli_[at]));
    ++measurements_;
    if (!std::isfinite(speed) || speed <= 0) {
      return Error{Code::FailedPrecondition,
                   fmt::format("measured {} iterations a second with {} thousandths of a CPU; a "
                               "speed is a positive number",
                               speed, cpu_milli_[at])};
    }
    points_[at].sum += speed;
    ++points_[at].count;
    return {};
  }

  int measurements() const { return measurements_; }
  bool measured(std::size_t at) const { return points_[at].count > 0; }
  int count(std::size_t at) const { return points_[at].count; }

  // The measured points on either side of one that is not.
  std::size_t left_of(std::size_t at) const {
    while (!measured(--at)) {
    }
    return at;
  }
  std::size_t right_of(std::size_t at) const {
    while (!measured(++at)) {
    }
    return at;
  }

  // The least the speed can be at a point that was not measured, and the most.
  std::pair<double, double> bounds(std::size_t at) const {
    const std::size_t left = left_of(at);
    const std::size_t right = right_of(at);
    const double low = on_line(left, right, at);
    double high = std::min(
        value(right), left == 0 ? value(0) * cpus(at) / cpus(0) : on_line(left_of(left), left, at));
    if (right + 1 < points_.size()) high = std::min(high, on_line(right, right_of(right), at));
    return {low, std::max(low, high)};
  }

  double estimate(std::size_t at) const {
    if (measured(at)) return value(at);
    const auto [low, high] = bounds(at);
    return (low + high) / 2;
  }

  // How far the estimate may be off, as a part of it.
  double doubt(std::size_t at) const {
    if (measured(at)) return 0;
    const auto [low, high] = bounds(at);
    return (high - low) / (high + low);
  }

 private:
  struct Point {
    double sum = 0;
    int count = 0;
  };

  double cpus(std::size_t at) const { return static_cast<double>(cpu_milli_[at]); }
  double value(std::size_t at) const { return points_[at].sum / points_[at].count; }
  double on_line(std::size_t first, std::size_t second, std::size_t at) const {
    const double slope = (value(second) - value(first)) / (cpus(second) - cpus(first));
    return value(first) + slope * (cpus(at) - cpus(first));
  }

  const std::vector<std::int64_t>& cpu_milli_;
  const MeasureSpeed& measure_;
  std::vector<Point> points_;
  int measurements_ = 0;
};

// Iterations a second that data can be loaded for.
double loading_speed(const OptimisticSetup& setup, std::int64_t memory_bytes) {
  const double cached = std::clamp(setup.cached_share(memory_bytes), 0.0, 1.0);
  double epoch_s = (1 - cached) * setup.dataset_bytes / setup.storage_bytes_per_s;
  if (setup.cache_bytes_per_s > 0) {
    epoch_s += cached * setup.dataset_bytes / setup.cache_bytes_per_s;
  }
  return epoch_s > 0 ? setup.epoch_iterations / epoch_s : std::numeric_limits<double>::infinity();
}

// The point that most is to be learnt from; the axis' size: none is needed.
std::size_t most_doubtful(const CpuCurve& curve, std::size_t size, double tolerance) {
  std::size_t best = size;
  double most = tolerance;
  for (std::size_t i = 0; i < size; ++i) {
    if (const double doubt = curve.doubt(i); doubt > most) {
      best = i;
      most = doubt;
    }
  }
  return best;
}

// The measured point whose scatter matters most: the one that most of the axis leans on for each of
// its measurements.
std::size_t weightiest(const CpuCurve& curve, std::size_t size, int enough) {
  std::vector<double> weight(size, 0);
  for (std::size_t i = 0; i < size; ++i) {
    if (curve.measured(i)) {
      ++weight[i];
    } else {
      weight[curve.left_of(i)] += 0.5;
      weight[curve.right_of(i)] += 0.5;
    }
  }
  std::size_t best = size;
  for (std::size_t i = 0; i < size; ++i) {
    if (!curve.measured(i) || curve.count(i) >= enough) continue;
    if (best == size || weight[i] * curve.count(best) > weight[best] * curve.count(i)) best = i;
  }
  return best;
}

int measurements_allowed(const OptimisticSetup& setup) {
  constexpr std::size_t kLeast = 4;
  if (setup.most_measurements > 0) return setup.most_measurements;
  return static_cast<int>(
      std::max(kLeast, setup.cpu_milli.size() * setup.memory_bytes.size() / 10));
}

Status measure_cpus(const OptimisticSetup& setup, CpuCurve& curve) {
  const std::size_t size = setup.cpu_milli.size();
  const int allowed = measurements_allowed(setup);
  TRY(curve.measure(size - 1));
  if (size > 1) TRY(curve.measure(0));
  while (curve.measurements() < allowed) {
    const std::size_t at = most_doubtful(curve, size, kShape * setup.tolerance);
    if (at == size) break;
    TRY(curve.measure(at));
  }
  const double scatter = kDeviations * setup.noise / setup.tolerance;
  const int enough = std::max(1, static_cast<int>(std::ceil(scatter * scatter)));
  while (curve.measurements() < allowed) {
    const std::size_t at = weightiest(curve, size, enough);
    if (at == size) break;
    TRY(curve.measure(at));
  }
  return {};
}

}  // namespace

Result<OptimisticProfile> profile_optimistically(const OptimisticSetup& setup,
                                                 const MeasureSpeed& measure) {
  INVARIANT(!setup.cpu_milli.empty() && !setup.memory_bytes.empty(), "an answer has cells");
  INVARIANT(setup.dataset_bytes > 0 && setup.epoch_iterations > 0 && setup.storage_bytes_per_s > 0,
            "loading has a speed");
  CpuCurve curve(setup.cpu_milli, measure);
  TRY(measure_cpus(setup, curve));
  OptimisticProfile profile;
  profile.measurements = curve.measurements();
  Sensitivity& sensitivity = profile.sensitivity;
  sensitivity.cpu_milli = setup.cpu_milli;
  sensitivity.memory_bytes = setup.memory_bytes;
  double fastest = 0;
  for (std::size_t cpu = 0; cpu < setup.cpu_milli.size(); ++cpu) {
    fastest = std::max(fastest, curve.estimate(cpu));  // scatter makes no job slower
    for (const std::int64_t bytes : setup.memory_bytes) {
      sensitivity.speed.push_back(std::min(fastest, loading_speed(setup, bytes)));
    }
  }
  const double unit = speed_with(sensitivity, setup.reference, 1);
  for (double& speed : sensitivity.speed) speed /= unit;
  sensitivity.ideal = knee(sensitivity);
  profile.iteration_s = 1 / unit;
  return profile;
}

}  // namespace orrery
