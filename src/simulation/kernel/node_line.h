#pragma once

#include <cstddef>
#include <span>
#include <vector>

#include "model/cluster.h"
#include "model/node_change.h"
#include "scheduling/survival/node_hazard.h"

namespace orrery {

class Machines;
class Scheduler;

// The nodes of a run over time: those that are there, and what is to happen to them.
class NodeLine {
 public:
  // `changes` are in order of time and name nodes of the cluster. Without changes the cluster is
  // not copied. Both outlive this.
  NodeLine(const Cluster& cluster, std::span<const NodeChange> changes);

  // As it is now: a node that is lost or warned is not open, and the losses of each are estimated
  // from those so far.
  const Cluster& cluster() const { return changes_.empty() ? all_ : now_there_; }
  Time next() const { return done_ < changes_.size() ? changes_[done_].at : kNever; }

  // Carries out what happens until `now`. Jobs on lost nodes are paused. take_over() must follow.
  void change(Time now, Scheduler& scheduler, Machines& machines);

 private:
  void lose(NodeId node, Duration notice, Scheduler& scheduler, Machines& machines);

  const Cluster& all_;
  const std::span<const NodeChange> changes_;
  Cluster now_there_;
  NodeHazard hazard_;
  std::vector<Time> warned_;  // by node; kNever: it is not
  std::size_t done_ = 0;
};

}  // namespace orrery
