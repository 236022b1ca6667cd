#include "report/metrics/node_sums.h"

#include <algorithm>

namespace orrery {
namespace {

constexpr double kHour_s = 3600;

}  // namespace

NodeSums::NodeSums(const Cluster& cluster, const FaultRules& rules) : rules_(rules) {
  for (std::size_t node = 0; node < cluster.nodes.size(); ++node) {
    const int gpus = cluster.nodes[node].gpus;
    (is_spot(node) ? spot_gpus_ : on_demand_gpus_) += gpus;
    gpus_.push_back(gpus);
  }
  lost_.resize(gpus_.size());
}

void NodeSums::advance(Time now) {
  if (now <= now_) return;
  const double passed_s = seconds(now - now_);
  now_ = now;
  if (!begun_) return;
  sums_.on_demand_gpu_s += passed_s * static_cast<double>(on_demand_gpus_);
  sums_.spot_gpu_s += passed_s * static_cast<double>(spot_gpus_);
  sums_.down_node_s += passed_s * static_cast<double>(nodes_down_);
}

void NodeSums::begin(Time now) {
  if (begun_) return;
  begun_ = true;
  now_ = std::max(now_, now);
}

void NodeSums::end() { sums_at_last_end_ = sums_; }

void NodeSums::change(const Event& event) {
  const std::size_t node = index(event.node);
  const bool lost = event.kind == EventKind::NodeLost;
  if (event.kind == EventKind::NodeWarned || lost_[node] == lost) return;
  lost_[node] = lost;
  nodes_down_ += lost ? 1 : -1;
  (is_spot(node) ? spot_gpus_ : on_demand_gpus_) += lost ? -gpus_[node] : gpus_[node];
  if (lost && begun_) ++sums_.losses;
}

void NodeSums::add_figures(RunSummary& summary) const {
  const Sums& sums = sums_at_last_end_;
  const double up_gpu_s = sums.on_demand_gpu_s + sums.spot_gpu_s;
  if (up_gpu_s > 0) summary.goodput = std::max(0.0, sums.useful_gpu_s / up_gpu_s);
  summary.lost_gpu_h = sums.lost_gpu_s / kHour_s;
  summary.fault_restarts = sums.restarts;
  summary.nodes_lost = sums.losses;
  summary.node_downtime_h = sums.down_node_s / kHour_s;
  summary.cost =
      (sums.on_demand_gpu_s * rules_.on_demand_price + sums.spot_gpu_s * rules_.spot_price) /
      kHour_s;
  summary.cost_on_demand = up_gpu_s * rules_.on_demand_price / kHour_s;
}

}  // namespace orrery
