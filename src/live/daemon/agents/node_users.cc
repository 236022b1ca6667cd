#include "live/daemon/agents/node_users.h"

#include <fmt/format.h>

#include <set>
#include <string>

namespace orrery {

bool starts_jobs_of(const NodeOffer& offer, std::string_view user) {
  return offer.only_user.empty() || offer.only_user == user;
}

Status check_nodes_for(std::string_view user, std::span<const LiveNode> nodes) {
  std::set<std::string_view> others;
  for (const LiveNode& node : nodes) {
    if (node.state == NodeState::Left) continue;
    if (starts_jobs_of(node.offer, user)) return {};
    others.insert(node.offer.only_user);
  }
  if (others.empty()) return {};
  return Error{Code::PermissionDenied,
               fmt::format("permission denied: no node can start jobs of {}: every agent runs as "
                           "{} and cannot become another user; only an agent that runs as root can",
                           user, fmt::join(others, " or "))};
}

}  // namespace orrery
