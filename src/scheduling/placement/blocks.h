#pragma once

#include <optional>
#include <span>

#include "scheduling/placement/ledger.h"

namespace orrery {

// Buddies: a node's GPUs as aligned blocks of powers of two.

// The size of the block that this many GPUs take.
int block_size(int gpus);

// The GPUs of one aligned block.
std::uint64_t block_mask(int begin, int size);

// Places this many of the shape's GPUs in one free block, out of the smallest free block in [begin,
// end) that will do, on nodes other than those used.
std::optional<NodeShare> best_block(const Ledger& free, const Shape& shape, int gpus,
                                    std::span<const NodeShare> used, int begin, int end);

}  // namespace orrery
