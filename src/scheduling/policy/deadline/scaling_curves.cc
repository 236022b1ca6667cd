#include "scheduling/policy/deadline/scaling_curves.h"

#include <algorithm>
#include <bit>
#include <cmath>

#include "scheduling/placement/blocks.h"
#include "scheduling/prediction/speed_curve.h"

namespace orrery {
namespace {

constexpr double kFastest = 1e9;  // iterations a second; also of jobs that take no time at all

bool alike(const Node& a, const Node& b) {
  return a.gpus == b.gpus && a.cpu_milli == b.cpu_milli && a.memory_bytes == b.memory_bytes &&
         a.gpu_memory_bytes == b.gpu_memory_bytes && a.gpu_type == b.gpu_type;
}

// How many of a node's GPUs' shares so much of something is.
std::int64_t shares(std::int64_t wanted, std::int64_t node_has, int node_gpus) {
  if (wanted == 0) return 0;
  if (node_has <= 0) return std::int64_t{1} << 40;
  return static_cast<std::int64_t>(
      std::ceil(static_cast<double>(wanted) / static_cast<double>(node_has) * node_gpus));
}

}  // namespace

ScalingCurves::ScalingCurves(const Workload& workload, const Cluster& cluster, bool all_there)
    : workload_(workload),
      node_count_(static_cast<int>(std::ranges::count_if(cluster.nodes, &Node::open))) {
  const auto first = std::ranges::find_if(cluster.nodes, &Node::open);
  if (first == cluster.nodes.end()) return;
  node_ = *first;
  regular_ =
      all_there && node_.gpus > 0 && std::has_single_bit(static_cast<unsigned>(node_.gpus)) &&
      std::ranges::all_of(cluster.nodes, [&](const Node& n) { return !n.open || alike(n, node_); });
}

bool ScalingCurves::is_light(const JobSpec& spec) const {
  return shares(spec.cpu_milli, node_.cpu_milli, node_.gpus) <= spec.gpus &&
         shares(spec.memory_bytes, node_.memory_bytes, node_.gpus) <= spec.gpus;
}

int ScalingCurves::nodes(int gpus) const {
  return node_.gpus > 0 ? (gpus + node_.gpus - 1) / node_.gpus : 1;
}

int ScalingCurves::capacity(const JobSpec& spec, int gpus) const {
  if (!regular_) return gpus;
  const Shape shape = shape_on(spec, gpus);
  const std::int64_t wanted = std::max(
      {static_cast<std::int64_t>(gpus), shares(shape.cpu_milli, node_.cpu_milli, node_.gpus),
       shares(shape.memory_bytes, node_.memory_bytes, node_.gpus)});
  const std::int64_t total = std::int64_t{node_.gpus} * node_count_;
  if (wanted > total) return 0;
  if (wanted <= node_.gpus) return block_size(static_cast<int>(wanted));
  return nodes(static_cast<int>(wanted)) * node_.gpus;
}

const ScalingCurve& ScalingCurves::of(const JobSpec& spec, Packer& packer) {
  regular_ = regular_ && is_light(spec);
  const Key key(spec.curve, spec.gpus, spec.iteration_s, spec.cpu_milli, spec.memory_bytes,
                spec.gpu_memory_bytes, spec.gpu_type);
  const auto [known, is_new] = curves_.try_emplace(key);
  if (!is_new) return known->second;
  std::vector<GpuOption> options;
  const auto add = [&](int gpus, double speed) {
    const int taken = capacity(spec, gpus);
    const ShapeId shape = packer.intern(shape_on(spec, gpus));
    if (taken == 0 || packer.infeasible(shape)) return;
    options.push_back({gpus, taken, std::min(speed, kFastest), shape});
  };
  bool asked_for = false;
  if (spec.curve != kNoCurve) {
    for (const SpeedCurve::Point& point : workload_.curves[index(spec.curve)].points) {
      if (point.gpus <= 0) continue;
      asked_for = asked_for || point.gpus == spec.gpus;
      add(point.gpus, speed_on(workload_, spec, point.gpus, nodes(point.gpus)));
    }
  }
  if (!asked_for) add(spec.gpus, spec.iteration_s > 0 ? 1 / spec.iteration_s : kFastest);
  return known->second = ScalingCurve::with_hull(std::move(options));
}

}  // namespace orrery
