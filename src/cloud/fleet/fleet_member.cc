#include "cloud/fleet/fleet_member.h"

namespace orrery {

void update(FleetMember& member, const NodeStatus& node, Time now) {
  if (node.state == "lost" || node.state == "left") return;
  member.joined = true;
  member.gpus_free = node.gpus_free;
  member.jobs = node.jobs;
  if (!node.jobs.empty()) {
    member.idle_since = kNever;
  } else if (member.idle_since == kNever) {
    member.idle_since = now;
  }
}

HeldServer held_server(const FleetMember& member, Time now) {
  return {.name = member.server.spec.name,
          .offer = member.server.spec.offer,
          .joined = member.joined,
          .leaving = member.leaves || member.server.state >= ServerState::Noticed,
          .gpus_free = member.gpus_free,
          .idle_since = member.idle_since,
          .cost_usd = cost_usd(member.server, now)};
}

}  // namespace orrery
