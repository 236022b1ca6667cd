#pragma once

#include <vector>

#include "model/event.h"
#include "model/ids.h"
#include "model/time.h"

namespace orrery {

// A time in which a node is gone.
struct Outage {
  NodeId node{};
  Time from{};
  Time to = kNever;

  bool operator==(const Outage&) const = default;
};

// What happens to a node.
struct NodeChange {
  Time at{};
  EventKind kind{};  // NodeWarned, NodeLost or NodeBack
  NodeId node{};

  bool operator==(const NodeChange&) const = default;
};

// The changes of all nodes, in order of time and node. Outages of one node that overlap or touch
// are one; empty ones are none. With a notice a node is warned that long before it is lost, or as
// soon as it is back or the run begins. The times of a node's changes rise strictly, except that a
// warning may come with the change before it.
std::vector<NodeChange> node_changes(std::vector<Outage> outages, Duration notice);

// What faults and revocations mean in a run: when jobs save their work, and what nodes cost.
struct FaultRules {
  Duration checkpoint_interval{};  // of training between two periodic saves; 0: there are none
  Duration checkpoint_cost{};      // of one save, in which the job does not train
  Duration notice{};               // between the warning and the loss of a node
  double on_demand_price = 1;      // of a GPU for an hour
  double spot_price = 1.0 / 3;
  int on_demand_nodes = 0;  // the first nodes; the others are spot

  bool operator==(const FaultRules&) const = default;
};

}  // namespace orrery
