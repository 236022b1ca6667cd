#include <algorithm>
#include <bit>

#include "scheduling/policy/host/host_nodes.h"

namespace orrery {

void HostNodes::settle() {
  for (Load& here : nodes_) {
    gather(here, kNone);
    fill_.fill(here.capacity, members_);
    here.rest = fill_.rest();
    for (std::size_t i = 0; i < here.requests.size(); ++i) {
      requests_[static_cast<std::size_t>(here.requests[i])].held = members_[i].held;
    }
  }
  raise_those_on_several_nodes();
}

// They get the best level for which there is something left on each of their nodes.
void HostNodes::raise_those_on_several_nodes() {
  for (Request& one : requests_) {
    if (one.on_one_node()) continue;
    const HostLevels::Level* best = &one.levels->floor();
    const auto fits = [&](const HostLevels::Level& level) {
      return std::ranges::all_of(one.devices, [&](const NodeShare& share) {
        const HostShare& rest = nodes_[index(share.node)].rest;
        const int gpus = std::popcount(share.gpus);
        const HostShare& floor = one.levels->floor().host;
        return (level.host.cpu_milli - floor.cpu_milli) * gpus <= rest.cpu_milli &&
               (level.host.memory_bytes - floor.memory_bytes) * gpus <= rest.memory_bytes;
      });
    };
    for (const HostLevels::Level& level : one.levels->levels) {
      if (level.speed > best->speed && fits(level)) best = &level;
    }
    for (const NodeShare& share : one.devices) {
      HostShare& rest = nodes_[index(share.node)].rest;
      const int gpus = std::popcount(share.gpus);
      rest.cpu_milli -= (best->host.cpu_milli - one.levels->floor().host.cpu_milli) * gpus;
      rest.memory_bytes -= (best->host.memory_bytes - one.levels->floor().host.memory_bytes) * gpus;
    }
    one.held = one.levels->share(*best, one.asker->gpus.gpus);
  }
}

}  // namespace orrery
