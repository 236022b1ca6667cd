#include "policy/host_rooms.h"

#include <algorithm>
#include <bit>

namespace orrery {
namespace {

// A guest's part on a node with so many of its GPUs.
HostShare share_on(const HostShare& one_gpu, int gpus) {
  return {one_gpu.cpu_milli * gpus, one_gpu.memory_bytes * gpus};
}

}  // namespace

void HostRooms::begin(Ledger& ledger) {
  ledger_ = &ledger;
  guests_.clear();
  own_levels_.clear();
  rooms_.resize(static_cast<std::size_t>(ledger.node_count()));
  for (int node = 0; node < ledger.node_count(); ++node) {
    Room& room = rooms_[static_cast<std::size_t>(node)];
    room.guests.clear();
    room.capacity = {ledger.free_cpu_milli(node), ledger.free_memory_bytes(node)};
    room.rest = room.capacity;
    room.value = 0;
  }
}

const HostLevels& HostRooms::levels_of(const HostAllocator::Asker& asker) {
  const int gpus = asker.gpus.gpus;
  if (asker.sensitivity == nullptr) {
    return own_levels_.emplace_back(host_levels(nullptr, *asker.need, gpus));
  }
  const auto [known, added] = levels_.try_emplace({asker.sensitivity, gpus});
  if (added) known->second = host_levels(asker.sensitivity, *asker.need, gpus);
  return known->second;
}

bool HostRooms::come(const HostAllocator::Asker& asker, const Devices& devices, double weight) {
  const HostLevels& levels = levels_of(asker);
  guests_.push_back(
      {.asker = &asker, .levels = &levels, .devices = devices, .weight = weight, .held = {}});
  const int guest = static_cast<int>(guests_.size()) - 1;
  come_back(guest, devices);
  const bool fits = std::ranges::all_of(devices, [&](const NodeShare& share) {
    return room(static_cast<int>(share.node)).value >= 0;
  });
  if (fits) return true;
  leave(guest);
  guests_.pop_back();
  return false;
}

void HostRooms::come_back(int guest, const Devices& devices) {
  Guest& who = guests_[static_cast<std::size_t>(guest)];
  who.devices = devices;
  for (const NodeShare& share : who.devices) {
    Room& here = rooms_[index(share.node)];
    if (who.on_one_node()) {
      here.guests.push_back(guest);
    } else {
      const HostShare floor = share_on(who.levels->floor().host, std::popcount(share.gpus));
      here.capacity.cpu_milli -= floor.cpu_milli;
      here.capacity.memory_bytes -= floor.memory_bytes;
    }
    refill(static_cast<int>(share.node));
  }
}

void HostRooms::leave(int guest) {
  Guest& who = guests_[static_cast<std::size_t>(guest)];
  for (const NodeShare& share : who.devices) {
    Room& here = rooms_[index(share.node)];
    if (who.on_one_node()) {
      std::erase(here.guests, guest);
    } else {
      const HostShare floor = share_on(who.levels->floor().host, std::popcount(share.gpus));
      here.capacity.cpu_milli += floor.cpu_milli;
      here.capacity.memory_bytes += floor.memory_bytes;
    }
    refill(static_cast<int>(share.node));
  }
}

void HostRooms::gather(const Room& room, int without) {
  members_.clear();
  for (const int guest : room.guests) {
    if (guest == without) continue;
    const Guest& who = guests_[static_cast<std::size_t>(guest)];
    members_.push_back({.levels = who.levels,
                        .gpus = who.asker->gpus.gpus,
                        .weight = who.weight,
                        .held = {},
                        .speed = 0});
  }
}

void HostRooms::refill(int node) {
  Room& here = rooms_[static_cast<std::size_t>(node)];
  gather(here, kNobody);
  here.value = fill_.fill(here.capacity, members_);
  here.rest = fill_.rest();
  for (std::size_t i = 0; i < here.guests.size(); ++i) {
    Guest& who = guests_[static_cast<std::size_t>(here.guests[i])];
    who.hungry = members_[i].speed < members_[i].levels->levels.back().speed;
    who.held = members_[i].held;
  }
}

double HostRooms::value_with(int node, int without, int with) {
  const Room& here = room(node);
  gather(here, without);
  if (with != kNobody) {
    const Guest& who = guests_[static_cast<std::size_t>(with)];
    members_.push_back({.levels = who.levels,
                        .gpus = who.asker->gpus.gpus,
                        .weight = who.weight,
                        .held = {},
                        .speed = 0});
  }
  return fill_.fill(here.capacity, members_);
}

double HostRooms::value_with(int node, const HostAllocator::Asker& asker, double weight) {
  gather(room(node), kNobody);
  members_.push_back({.levels = &levels_of(asker),
                      .gpus = asker.gpus.gpus,
                      .weight = weight,
                      .held = {},
                      .speed = 0});
  return fill_.fill(room(node).capacity, members_);
}

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
    who.held = share_on(best->host, who.asker->gpus.gpus);
  }
}

}  // namespace orrery
