#pragma once

#include <bit>
#include <cstdint>
#include <span>

#include "base/inline_vector.h"
#include "model/ids.h"

namespace orrery {

// Some GPUs of one node: bit i stands for its GPU i.
struct NodeShare {
  NodeId node{};
  std::uint64_t gpus = 0;

  bool operator==(const NodeShare&) const = default;
};

using Devices = InlineVector<NodeShare, 1>;  // one entry a node

inline int gpu_count(std::span<const NodeShare> devices) {
  int count = 0;
  for (const NodeShare& share : devices) count += std::popcount(share.gpus);
  return count;
}

// Which jobs may share a device. A device holds one Exclusive job; or the members of one group; or
// one Guaranteed job and one Opportunistic job at most.
enum class Sharing : std::uint8_t { Exclusive, Interleaved, Guaranteed, Opportunistic };

// What a job holds from now on.
struct Grant {
  JobId job = kNoJob;
  Devices devices;
  std::int64_t cpu_milli = 0;
  std::int64_t memory_bytes = 0;
  Sharing sharing = Sharing::Exclusive;
  GroupId group = kNoGroup;
  int position = 0;             // in the group's cycle
  double iterations_per_s = 0;  // what the policy counts on; reality may differ

  bool operator==(const Grant&) const = default;
};

}  // namespace orrery
