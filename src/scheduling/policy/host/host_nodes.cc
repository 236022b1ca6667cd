#include "scheduling/policy/host/host_nodes.h"

#include <algorithm>
#include <bit>

namespace orrery {
namespace {

HostFill::Member member_of(const HostNodes::Request& request) {
  return {.levels = request.levels, .gpus = request.asker->gpus.gpus, .held = {}, .speed = 0};
}

}  // namespace

void HostNodes::begin(Ledger& ledger) {
  ledger_ = &ledger;
  requests_.clear();
  own_levels_.clear();
  nodes_.resize(static_cast<std::size_t>(ledger.node_count()));
  for (int node = 0; node < ledger.node_count(); ++node) {
    Load& load = nodes_[static_cast<std::size_t>(node)];
    load.requests.clear();
    load.capacity = {ledger.free_cpu_milli(node), ledger.free_memory_bytes(node)};
    load.rest = load.capacity;
    load.value = 0;
    largest_.cpu_milli = std::max(largest_.cpu_milli, load.capacity.cpu_milli);
    largest_.memory_bytes = std::max(largest_.memory_bytes, load.capacity.memory_bytes);
  }
}

const HostLevels& HostNodes::levels_of(const HostAllocator::Asker& asker) {
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

bool HostNodes::come(const HostAllocator::Asker& asker, const Devices& devices) {
  const HostLevels& levels = levels_of(asker);
  requests_.push_back({.asker = &asker, .levels = &levels, .devices = devices, .held = {}});
  const int request = static_cast<int>(requests_.size()) - 1;
  come_back(request, devices);
  const bool fits = std::ranges::all_of(devices, [&](const NodeShare& share) {
    return load(static_cast<int>(share.node)).value >= 0;
  });
  if (fits) return true;
  leave(request);
  requests_.pop_back();
  return false;
}

void HostNodes::come_back(int request, const Devices& devices) {
  Request& one = requests_[static_cast<std::size_t>(request)];
  one.devices = devices;
  for (const NodeShare& share : one.devices) {
    Load& here = nodes_[index(share.node)];
    if (one.on_one_node()) {
      here.requests.push_back(request);
    } else {
      const HostShare floor = one.levels->floor_share(std::popcount(share.gpus));
      here.capacity.cpu_milli -= floor.cpu_milli;
      here.capacity.memory_bytes -= floor.memory_bytes;
    }
    refill(static_cast<int>(share.node));
  }
}

void HostNodes::leave(int request) {
  Request& one = requests_[static_cast<std::size_t>(request)];
  for (const NodeShare& share : one.devices) {
    Load& here = nodes_[index(share.node)];
    if (one.on_one_node()) {
      std::erase(here.requests, request);
    } else {
      const HostShare floor = one.levels->floor_share(std::popcount(share.gpus));
      here.capacity.cpu_milli += floor.cpu_milli;
      here.capacity.memory_bytes += floor.memory_bytes;
    }
    refill(static_cast<int>(share.node));
  }
}

void HostNodes::gather(const Load& load, int without) {
  members_.clear();
  for (const int request : load.requests) {
    if (request == without) continue;
    const Request& one = requests_[static_cast<std::size_t>(request)];
    members_.push_back(member_of(one));
  }
}

void HostNodes::refill(int node) {
  Load& here = nodes_[static_cast<std::size_t>(node)];
  gather(here, kNone);
  here.value = fill_.fill(here.capacity, members_);
  here.rest = fill_.rest();
  for (std::size_t i = 0; i < here.requests.size(); ++i) {
    Request& one = requests_[static_cast<std::size_t>(here.requests[i])];
    one.below_fastest = members_[i].speed < members_[i].levels->fastest_on_a_node;
    one.held = members_[i].held;
  }
}

double HostNodes::value_with(int node, int without, int with) {
  const Load& here = load(node);
  gather(here, without);
  if (with != kNone) {
    const Request& one = requests_[static_cast<std::size_t>(with)];
    members_.push_back(member_of(one));
  }
  return fill_.fill(here.capacity, members_);
}

double HostNodes::value_with(int node, const HostAllocator::Asker& asker) {
  gather(load(node), kNone);
  members_.push_back(
      {.levels = &levels_of(asker), .gpus = asker.gpus.gpus, .held = {}, .speed = 0});
  return fill_.fill(load(node).capacity, members_);
}

int HostNodes::floors_for(int node, const HostAllocator::Asker& asker) {
  HostShare rest = load(node).capacity;
  for (const int request : load(node).requests) {
    const Request& one = requests_[static_cast<std::size_t>(request)];
    const HostShare floor = one.levels->floor_share(one.asker->gpus.gpus);
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
