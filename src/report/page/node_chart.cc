#include "report/page/node_chart.h"

namespace orrery {

NodeChart::NodeChart(const ChartTime& time, const Cluster& cluster)
    : lost_(cluster.nodes.size()), means_(time.means(1)) {
  for (const Node& node : cluster.nodes) {
    gpus_.push_back(node.gpus);
    up_ += node.gpus;
  }
  means_.set(time.start, 0, static_cast<double>(up_));
}

void NodeChart::change(Time now, const Event& event) {
  const std::size_t node = index(event.node);
  const bool lost = event.kind == EventKind::NodeLost;
  if (event.kind == EventKind::NodeWarned || lost_[node] == lost) return;
  lost_[node] = lost;
  seen_ = true;
  up_ += lost ? -gpus_[node] : gpus_[node];
  means_.set(now, 0, static_cast<double>(up_));
}

void NodeChart::fill(Time now, Series& series) {
  if (!seen_) return;
  means_.advance(now);
  series.gpus_up = line_of(means_, 0);
}

}  // namespace orrery
