#pragma once

#include <array>
#include <bit>
#include <cstdint>
#include <tuple>
#include <vector>

#include "base/invariant.h"
#include "model/cluster.h"
#include "model/grant.h"

namespace orrery {

// How many jobs hold each GPU, so that a GPU shared by a group counts once. Up to 255 may.
//
// The counters of a node's 64 GPUs are kept bit-sliced: word k holds bit k of all of them. Adding
// one to any set of GPUs is then a carry that ripples through words, without a loop over GPUs, and
// a node fills one cache line.
class DeviceLedger {
 public:
  explicit DeviceLedger(const Cluster& cluster) : nodes_(cluster.nodes.size()) {}

  // The number of these GPUs that no job held before.
  int take(const NodeShare& share) {
    Counters& counters = of(share.node);
    const std::uint64_t before = any(counters);
    std::uint64_t carry = share.gpus;
    for (std::size_t bit = 0; carry != 0 && bit < counters.size(); ++bit) {
      const std::uint64_t next = counters[bit] & carry;
      counters[bit] ^= carry;
      carry = next;
    }
    return std::popcount(share.gpus & ~before);
  }

  // The number of these GPUs that no job holds any more.
  int release(const NodeShare& share) {
    Counters& counters = of(share.node);
    std::uint64_t borrow = share.gpus & any(counters);
    const std::uint64_t held = borrow;
    for (std::size_t bit = 0; borrow != 0 && bit < counters.size(); ++bit) {
      const std::uint64_t next = ~counters[bit] & borrow;
      counters[bit] ^= borrow;
      borrow = next;
    }
    return std::popcount(held & ~any(counters));
  }

 private:
  using Counters = std::array<std::uint64_t, 8>;

  static std::uint64_t any(const Counters& counters) {
    return std::apply([](auto... words) { return (words | ...); }, counters);
  }

  Counters& of(NodeId node) {
    INVARIANT(index(node) < nodes_.size(), "a grant names nodes of the cluster only");
    return nodes_[index(node)];
  }

  std::vector<Counters> nodes_;
};

}  // namespace orrery
