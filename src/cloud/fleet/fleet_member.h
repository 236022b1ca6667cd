#pragma once

#include <string>
#include <vector>

#include "cloud/autoscaling/autoscaling.h"
#include "cloud/provider/server.h"
#include "live/api/api_cluster.h"

namespace orrery {

// A server of the fleet, and the node that it is to the scheduler.
struct FleetMember {
  Server server;
  bool joined = false;     // the scheduler has had it as a node
  bool leaves = false;     // a notice, or it is not needed: the node is drained
  bool drained = false;    // the scheduler has taken the drain
  bool reported = false;   // the scheduler knows that it has ended
  Time leave_by = kNever;  // it is stopped then, with or without jobs
  int gpus_free = 0;
  std::vector<JobNumber> jobs{};
  Time idle_since = kNever;
};

// Takes in what the scheduler says of the node.
void update(FleetMember& member, const NodeStatus& node, Time now);
// How the autoscaling rules see it.
HeldServer held_server(const FleetMember& member, Time now);

}  // namespace orrery
