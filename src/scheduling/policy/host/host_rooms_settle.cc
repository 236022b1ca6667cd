#include <algorithm>
#include <bit>

#include "scheduling/policy/host/host_rooms.h"

namespace orrery {

void HostRooms::settle() {
  for (Room& here : rooms_) {
    gather(here, kNobody);
    fill_.fill(here.capacity, members_);
    here.rest = fill_.rest();
    for (std::size_t i = 0; i < here.guests.size(); ++i) {
      guests_[static_cast<std::size_t>(here.guests[i])].held = members_[i].held;
    }
  }
  raise_those_on_several_nodes();
}

// They get the best level for which there is something left on each of their nodes.
void HostRooms::raise_those_on_several_nodes() {
  for (Guest& who : guests_) {
    if (who.on_one_node()) continue;
    const HostLevels::Level* best = &who.levels->floor();
    const auto fits = [&](const HostLevels::Level& level) {
      return std::ranges::all_of(who.devices, [&](const NodeShare& share) {
        const HostShare& rest = rooms_[index(share.node)].rest;
        const int gpus = std::popcount(share.gpus);
        const HostShare& floor = who.levels->floor().host;
        return (level.host.cpu_milli - floor.cpu_milli) * gpus <= rest.cpu_milli &&
               (level.host.memory_bytes - floor.memory_bytes) * gpus <= rest.memory_bytes;
      });
    };
    for (const HostLevels::Level& level : who.levels->levels) {
      if (level.speed > best->speed && fits(level)) best = &level;
    }
    for (const NodeShare& share : who.devices) {
      HostShare& rest = rooms_[index(share.node)].rest;
      const int gpus = std::popcount(share.gpus);
      rest.cpu_milli -= (best->host.cpu_milli - who.levels->floor().host.cpu_milli) * gpus;
      rest.memory_bytes -= (best->host.memory_bytes - who.levels->floor().host.memory_bytes) * gpus;
    }
    who.held = who.levels->share(*best, who.asker->gpus.gpus);
  }
}

}  // namespace orrery
