#pragma once

#include <span>
#include <string_view>

#include "base/result.h"
#include "live/daemon/log/live.h"

namespace orrery {

// An agent that does not run as root starts jobs of its own user alone, and refuses those of others
// each time.
bool starts_jobs_of(const NodeOffer& offer, std::string_view user);

// PermissionDenied where each node that is there belongs to an agent that would refuse the user's
// jobs. Without any node a job may wait for one.
Status check_nodes_for(std::string_view user, std::span<const LiveNode> nodes);

}  // namespace orrery
