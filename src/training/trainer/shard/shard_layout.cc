#include "training/trainer/shard/shard_layout.h"

#include <algorithm>
#include <cstring>
#include <numeric>

#include "base/invariant.h"

namespace orrery {
namespace {

template <class T>
std::vector<std::span<T>> cut(std::span<T> flat, const ShardPlace& place) {
  std::vector<std::span<T>> parts;
  for (const FlatRange& range : place.ranges) {
    INVARIANT(range.first + range.count <= static_cast<std::int64_t>(flat.size()),
              "a shard's ranges lie within the parameters");
    parts.push_back(
        flat.subspan(static_cast<std::size_t>(range.first), static_cast<std::size_t>(range.count)));
  }
  return parts;
}

}  // namespace

std::int64_t ShardPlace::count() const {
  return std::accumulate(
      ranges.begin(), ranges.end(), std::int64_t{0},
      [](std::int64_t sum, const FlatRange& range) { return sum + range.count; });
}

std::vector<ShardPlace> lay_out_shards(std::span<const TensorPlace> tensors, int shards) {
  INVARIANT(shards > 0, "some shard must hold the parameters");
  std::vector<const TensorPlace*> order;
  for (const TensorPlace& tensor : tensors) order.push_back(&tensor);
  std::stable_sort(order.begin(), order.end(),
                   [](const auto* a, const auto* b) { return a->count > b->count; });
  const auto used =
      std::min(static_cast<std::size_t>(shards), std::max<std::size_t>(order.size(), 1));
  std::vector<ShardPlace> places(used);
  std::vector<std::int64_t> loads(used);
  for (const TensorPlace* tensor : order) {
    const auto least = std::min_element(loads.begin(), loads.end());
    *least += tensor->count;
    places[static_cast<std::size_t>(least - loads.begin())].ranges.push_back(
        {.first = tensor->first, .count = tensor->count});
  }
  for (ShardPlace& place : places) {
    std::sort(place.ranges.begin(), place.ranges.end(),
              [](const FlatRange& a, const FlatRange& b) { return a.first < b.first; });
    std::vector<FlatRange> joined;
    for (const FlatRange& range : place.ranges) {
      if (!joined.empty() && joined.back().first + joined.back().count == range.first) {
        joined.back().count += range.count;
      } else {
        joined.push_back(range);
      }
    }
    place.ranges = std::move(joined);
  }
  return places;
}

std::vector<std::span<float>> piece_of(std::span<float> flat, const ShardPlace& place) {
  return cut(flat, place);
}

std::vector<std::span<const float>> piece_of(std::span<const float> flat, const ShardPlace& place) {
  return cut(flat, place);
}

void scatter(std::span<const float> piece, const ShardPlace& place, std::span<float> flat) {
  for (const std::span<float> part : piece_of(flat, place)) {
    std::copy_n(piece.begin(), part.size(), part.begin());
    piece = piece.subspan(part.size());
  }
}

std::vector<float> gather(std::span<const float> flat, const ShardPlace& place) {
  std::vector<float> piece;
  piece.reserve(static_cast<std::size_t>(place.count()));
  for (const std::span<const float> part : piece_of(flat, place)) {
    piece.insert(piece.end(), part.begin(), part.end());
  }
  return piece;
}

}  // namespace orrery
