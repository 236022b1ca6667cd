#pragma once

#include <utility>
#include <vector>

#include "training/sync/membership.h"
#include "training/sync/mode.h"

namespace orrery {

using ParentPairs = std::vector<std::pair<WorkerId, WorkerId>>;  // (child, parent)

struct RingShape {
  std::vector<WorkerId> ring{};  // ascending
  ParentPairs parents{};         // of all other workers, ascending by child
  bool operator==(const RingShape&) const = default;
};

// What a mode's ring is among the workers present: if none of it is, all workers are the ring. A
// worker that is neither in it nor has a parent in it gets one, the next of the ring each time.
RingShape ring_among(const Mode& mode, const Membership& membership);

// What a mode's tree is among those present, two levels deep: pairs whose parent is absent or is a
// child itself, and all but a child's first, are left out.
ParentPairs tree_among(const Mode& mode, const Membership& membership);

// Writes it into the membership.
void set_parents(const ParentPairs& parents, Membership& membership);

}  // namespace orrery
