#include "training/sync/topology.h"

#include <algorithm>

namespace orrery {

RingShape ring_among(const Mode& mode, const Membership& membership) {
  RingShape shape;
  for (const WorkerId worker : mode.ring) {
    if (membership.seat_of(worker) >= 0) shape.ring.push_back(worker);
  }
  std::ranges::sort(shape.ring);
  shape.ring.erase(std::unique(shape.ring.begin(), shape.ring.end()), shape.ring.end());
  if (shape.ring.empty())
    shape.ring.assign(membership.workers().begin(), membership.workers().end());

  const auto in_ring = [&](WorkerId worker) {
    return std::ranges::binary_search(shape.ring, worker);
  };
  std::size_t next = 0;
  for (const WorkerId worker : membership.workers()) {
    if (in_ring(worker)) continue;
    const auto named = std::ranges::find_if(mode.parents, [&](const auto& pair) {
      return pair.first == worker && in_ring(pair.second);
    });
    const WorkerId parent =
        named != mode.parents.end() ? named->second : shape.ring[next++ % shape.ring.size()];
    shape.parents.emplace_back(worker, parent);
  }
  return shape;
}

ParentPairs tree_among(const Mode& mode, const Membership& membership) {
  ParentPairs pairs;
  for (const auto& pair : mode.parents) {
    if (membership.seat_of(pair.first) < 0 || membership.seat_of(pair.second) < 0) continue;
    if (pair.first != pair.second) pairs.push_back(pair);
  }
  std::ranges::stable_sort(pairs, {}, &std::pair<WorkerId, WorkerId>::first);
  const auto same_child = [](const auto& a, const auto& b) { return a.first == b.first; };
  pairs.erase(std::unique(pairs.begin(), pairs.end(), same_child), pairs.end());
  const ParentPairs all = pairs;
  std::erase_if(pairs, [&](const auto& pair) {
    return std::ranges::binary_search(all, pair.second, {}, &std::pair<WorkerId, WorkerId>::first);
  });
  return pairs;
}

void set_parents(const ParentPairs& parents, Membership& membership) {
  for (const int seat : membership.seats()) membership[seat].parent = -1;
  for (const auto& [child, parent] : parents) {
    membership[membership.seat_of(child)].parent = membership.seat_of(parent);
  }
}

}  // namespace orrery
