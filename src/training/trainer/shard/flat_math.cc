#include "training/trainer/shard/flat_math.h"

#include <array>
#include <cstddef>

#include "base/invariant.h"

namespace orrery {
namespace {

constexpr std::size_t kLanes = 8;

template <class Value>
double in_lanes(std::size_t count, Value value) {
  std::array<double, kLanes> sums{};
  std::size_t i = 0;
  for (; i + kLanes <= count; i += kLanes) {
    for (std::size_t lane = 0; lane < kLanes; ++lane) sums[lane] += value(i + lane);
  }
  for (; i < count; ++i) sums[i % kLanes] += value(i);
  double sum = 0;
  for (const double part : sums) sum += part;
  return sum;
}

}  // namespace

double norm2(std::span<const float> a) {
  const float* const values = a.data();
  return in_lanes(a.size(), [values](std::size_t i) {
    const double value = values[i];
    return value * value;
  });
}

double dot(std::span<const float> a, std::span<const float> b) {
  INVARIANT(a.size() == b.size(), "a product of vectors of one length");
  const float* const left = a.data();
  const float* const right = b.data();
  return in_lanes(a.size(), [left, right](std::size_t i) {
    return static_cast<double>(left[i]) * static_cast<double>(right[i]);
  });
}

void add_weighted(std::span<float> sum, double weight, std::span<const float> a) {
  INVARIANT(sum.size() == a.size(), "a sum of vectors of one length");
  const auto factor = static_cast<float>(weight);
  float* const to = sum.data();
  const float* const from = a.data();
  const std::size_t count = sum.size();
  for (std::size_t i = 0; i < count; ++i) to[i] += factor * from[i];
}

}  // namespace orrery
