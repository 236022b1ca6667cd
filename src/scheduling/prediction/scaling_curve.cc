#include "scheduling/prediction/scaling_curve.h"

#include <algorithm>
#include <bit>

namespace orrery {
namespace {

// In place, by capacity.
void keep_faster(std::vector<GpuOption>& options) {
  std::erase_if(options, [](const GpuOption& one) { return one.gpus <= 0 || !(one.speed > 0); });
  std::ranges::sort(options, [](const GpuOption& a, const GpuOption& b) {
    return a.capacity != b.capacity ? a.capacity < b.capacity : a.gpus < b.gpus;
  });
  std::size_t kept = 0;
  for (const GpuOption& one : options) {
    if (kept > 0 && one.speed <= options[kept - 1].speed) continue;
    if (kept > 0 && one.capacity == options[kept - 1].capacity) --kept;
    options[kept++] = one;
  }
  options.resize(kept);
}

// Long curves are thinned from the top, where neighbours differ least.
void thin_out(std::vector<GpuOption>& options) {
  constexpr std::size_t kMost = ScalingCurve::kHullOptionsMax - 1;
  for (std::size_t i = options.size(); i-- > 0 && options.size() > kMost;) {
    const bool power_of_two = std::has_single_bit(static_cast<unsigned>(options[i].gpus));
    if (i % 2 == 1 && !power_of_two) options.erase(options.begin() + static_cast<int>(i));
  }
  if (options.size() > kMost) options.resize(kMost);
}

}  // namespace

ScalingCurve::ScalingCurve(std::vector<GpuOption> options) : options_(std::move(options)) {
  options_.insert(options_.begin(), GpuOption{});
  top_ = static_cast<int>(options_.size()) - 1;
  capacity_max_ = options_.back().capacity;
  within_.assign(static_cast<std::size_t>(capacity_max_) + 1, 0);
  for (int option = 1; option < size(); ++option) {
    std::fill(within_.begin() + (*this)[option].capacity, within_.end(),
              static_cast<std::uint16_t>(option));
  }
}

ScalingCurve ScalingCurve::with_hull(std::vector<GpuOption> options) {
  keep_faster(options);
  thin_out(options);
  ScalingCurve curve(std::move(options));
  for (int limit = 1; limit < curve.size(); ++limit) curve.add_hull(limit);
  std::ranges::stable_sort(curve.hull_edges_, std::ranges::greater{}, &HullEdge::slope);
  return curve;
}

void ScalingCurve::add_hull(int limit) {
  for (int from = 0; from < limit;) {
    int best = from + 1;
    for (int to = from + 2; to <= limit; ++to) {
      if (slope(from, to) >= slope(from, best)) best = to;
    }
    const auto same = std::ranges::find_if(
        hull_edges_, [&](const HullEdge& edge) { return edge.from == from && edge.to == best; });
    const std::uint64_t bit = 1ULL << limit;
    if (same != hull_edges_.end()) {
      same->limits |= bit;
    } else {
      hull_edges_.push_back({from, best, slope(from, best), bit});
    }
    from = best;
  }
}

int ScalingCurve::option_of(int gpus) const {
  for (int option = 1; option < size(); ++option) {
    if ((*this)[option].gpus == gpus) return option;
  }
  return 0;
}

ScalingCurve measured_options(const Workload& workload, const JobSpec& job, int gpus_max) {
  std::vector<GpuOption> options;
  if (job.curve != kNoCurve) {
    for (const SpeedCurve::Point& point : workload.curves[index(job.curve)].points) {
      if (point.gpus > gpus_max) break;
      options.push_back({point.gpus, point.gpus, point.iterations_per_s});
    }
  }
  if (options.empty()) options.push_back({job.gpus, job.gpus, 1 / job.iteration_s});
  return ScalingCurve(std::move(options));
}

}  // namespace orrery
