#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "training/libtorch/learner.h"

namespace orrery {

// A run of the flat parameters.
struct FlatRange {
  std::int64_t first = 0;
  std::int64_t count = 0;
};

// Which parameters one shard holds. Its piece of a vector is these ranges, one after the other.
struct ShardPlace {
  std::vector<FlatRange> ranges{};
  std::int64_t count() const;
};

// Largest tensor first onto the least loaded shard. Ranges ascend, and neighbours are joined. At
// most as many shards as there are tensors are used.
std::vector<ShardPlace> lay_out_shards(std::span<const TensorPlace> tensors, int shards);

// The ranges of `flat` that are a shard's piece, to be sent or filled without a copy.
std::vector<std::span<float>> piece_of(std::span<float> flat, const ShardPlace& place);
std::vector<std::span<const float>> piece_of(std::span<const float> flat, const ShardPlace& place);
void scatter(std::span<const float> piece, const ShardPlace& place, std::span<float> flat);
std::vector<float> gather(std::span<const float> flat, const ShardPlace& place);

}  // namespace orrery
