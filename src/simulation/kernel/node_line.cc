#include "simulation/kernel/node_line.h"

#include <algorithm>

#include "simulation/kernel/machines.h"

namespace orrery {

NodeLine::NodeLine(const Cluster& cluster, std::span<const NodeChange> changes)
    : all_(cluster),
      changes_(changes),
      hazard_(changes.empty() ? 0 : cluster.nodes.size(), Time()) {
  if (changes.empty()) return;
  now_there_ = cluster;
  warned_.assign(cluster.nodes.size(), kNever);
}

void NodeLine::change(Time now, Scheduler& scheduler, Machines& machines) {
  for (; next() <= now; ++done_) {
    const NodeChange& change = changes_[done_];
    Time& warned = warned_[index(change.node)];
    scheduler.node_changed(change.node, change.kind, now);
    now_there_.nodes[index(change.node)].open = change.kind == EventKind::NodeBack;
    if (change.kind == EventKind::NodeWarned) warned = now;
    if (change.kind == EventKind::NodeBack) {
      warned = kNever;
      hazard_.bring_back(change.node, now);
    }
    if (change.kind == EventKind::NodeLost) {
      hazard_.lose(change.node, now);
      lose(change.node, warned == kNever ? Duration() : now - warned, scheduler, machines);
    }
  }
  for (std::size_t node = 0; node < now_there_.nodes.size(); ++node) {
    now_there_.nodes[node].losses_per_day = hazard_.losses_per_day(static_cast<NodeId>(node), now);
  }
}

// In the order of jobs, which those on a node do not stand in.
void NodeLine::lose(NodeId node, Duration notice, Scheduler& scheduler, Machines& machines) {
  const auto there = scheduler.state().on_nodes()[index(node)];
  std::vector<JobId> jobs(there.begin(), there.end());
  std::ranges::sort(jobs);
  for (const JobId job : jobs) machines.lose(job, node, notice);
}

}  // namespace orrery
