#include "scheduling/policy/host/host_rooms.h"

#include <algorithm>
#include <bit>

namespace orrery {
namespace {

HostFill::Member member_of(const HostRooms::Guest& guest) {
  return {.levels = guest.levels, .gpus = guest.asker->gpus.gpus, .held = {}, .speed = 0};
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
    largest_.cpu_milli = std::max(largest_.cpu_milli, room.capacity.cpu_milli);
    largest_.memory_bytes = std::max(largest_.memory_bytes, room.capacity.memory_bytes);
  }
}

const HostLevels& HostRooms::levels_of(const HostAllocator::Asker& asker) {
  const int gpus = asker.gpus.gpus;
  if (asker.sensitivity == nullptr) {
    return own_levels_.emplace_back(host_levels(asker));
  }
  const auto [known, added] = levels_.try_emplace({asker.kind, gpus});
  known->second.sensitivity = asker.sensitivity;
  if (!added) return known->second;
  HostLevels& levels = known->second;
  levels = host_levels(asker);
  for (const HostLevels::Level& level : levels.levels) {
    const HostShare all = levels.share(level, gpus);
    const bool fits =
        all.cpu_milli <= largest_.cpu_milli && all.memory_bytes <= largest_.memory_bytes;
    if (fits) levels.fastest_on_a_node = std::max(levels.fastest_on_a_node, level.speed);
  }
  return levels;
}

bool HostRooms::come(const HostAllocator::Asker& asker, const Devices& devices) {
  const HostLevels& levels = levels_of(asker);
  guests_.push_back({.asker = &asker, .levels = &levels, .devices = devices, .held = {}});
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
      const HostShare floor = who.levels->floor_share(std::popcount(share.gpus));
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
      const HostShare floor = who.levels->floor_share(std::popcount(share.gpus));
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
    members_.push_back(member_of(who));
  }
}

void HostRooms::refill(int node) {
  Room& here = rooms_[static_cast<std::size_t>(node)];
  gather(here, kNobody);
  here.value = fill_.fill(here.capacity, members_);
  here.rest = fill_.rest();
  for (std::size_t i = 0; i < here.guests.size(); ++i) {
    Guest& who = guests_[static_cast<std::size_t>(here.guests[i])];
    who.hungry = members_[i].speed < members_[i].levels->fastest_on_a_node;
    who.held = members_[i].held;
  }
}

double HostRooms::value_with(int node, int without, int with) {
  const Room& here = room(node);
  gather(here, without);
  if (with != kNobody) {
    const Guest& who = guests_[static_cast<std::size_t>(with)];
    members_.push_back(member_of(who));
  }
  return fill_.fill(here.capacity, members_);
}

double HostRooms::value_with(int node, const HostAllocator::Asker& asker) {
  gather(room(node), kNobody);
  members_.push_back(
      {.levels = &levels_of(asker), .gpus = asker.gpus.gpus, .held = {}, .speed = 0});
  return fill_.fill(room(node).capacity, members_);
}

int HostRooms::floors_for(int node, const HostAllocator::Asker& asker) {
  HostShare rest = room(node).capacity;
  for (const int guest : room(node).guests) {
    const Guest& who = guests_[static_cast<std::size_t>(guest)];
    const HostShare floor = who.levels->floor_share(who.asker->gpus.gpus);
    rest.cpu_milli -= floor.cpu_milli;
    rest.memory_bytes -= floor.memory_bytes;
  }
  const int gpus = asker.gpus.gpus;
  const HostShare floor = levels_of(asker).floor_share(gpus);
  std::int64_t count = gpus;
  if (floor.cpu_milli > 0) count = std::min(count, rest.cpu_milli * gpus / floor.cpu_milli);
  if (floor.memory_bytes > 0)
    count = std::min(count, rest.memory_bytes * gpus / floor.memory_bytes);
  return static_cast<int>(std::max<std::int64_t>(0, count));
}

}  // namespace orrery
