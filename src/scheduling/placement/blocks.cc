#include "scheduling/placement/blocks.h"

#include <algorithm>
#include <bit>

namespace orrery {
namespace {

// How large the free block around this one is.
int around(std::uint64_t free, int begin, int size, int gpus) {
  while (2 * size <= gpus) {
    const int parent = begin & ~(2 * size - 1);
    const std::uint64_t mask = block_mask(parent, 2 * size);
    if ((free & mask) != mask) break;
    begin = parent;
    size *= 2;
  }
  return size;
}

}  // namespace

int block_size(int gpus) { return static_cast<int>(std::bit_ceil(static_cast<unsigned>(gpus))); }

std::uint64_t block_mask(int begin, int size) {
  const std::uint64_t ones = size >= 64 ? ~0ULL : (1ULL << size) - 1;
  return ones << begin;
}

std::optional<NodeShare> best_block(const Ledger& free, const Shape& shape, int gpus,
                                    std::span<const NodeShare> used, int begin, int end) {
  const int size = block_size(gpus);
  std::optional<NodeShare> best;
  int smallest = 0;
  for (int count = size; count <= free.gpus_per_node_max(); ++count) {
    for (int node = free.next_with_free(count, begin, end); node < end;
         node = free.next_with_free(count, node + 1, end)) {
      if (!free.fits(node, gpus, shape)) continue;
      const auto same = [&](const NodeShare& share) {
        return share.node == static_cast<NodeId>(node);
      };
      if (std::ranges::any_of(used, same)) continue;
      const std::uint64_t mask = free.free_mask(node);
      for (int at = 0; at + size <= free.gpus_of(node); at += size) {
        if ((mask & block_mask(at, size)) != block_mask(at, size)) continue;
        const int whole = around(mask, at, size, free.gpus_of(node));
        if (best && whole >= smallest) continue;
        smallest = whole;
        best = NodeShare{static_cast<NodeId>(node), block_mask(at, gpus)};
        if (whole == size) return best;
      }
      // Nodes with more free GPUs hardly have smaller blocks, and there may be thousands.
      if (best) break;
    }
  }
  return best;
}

}  // namespace orrery
