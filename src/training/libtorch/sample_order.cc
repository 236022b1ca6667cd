#include "training/libtorch/sample_order.h"

#include <numeric>
#include <utility>

#include "base/invariant.h"
#include "base/random.h"

namespace orrery {

SampleOrder::SampleOrder(std::int64_t samples, std::uint64_t seed)
    : samples_(samples), seed_(seed), permutation_(static_cast<std::size_t>(samples)) {
  INVARIANT(samples >= 1 && samples <= (std::int64_t{1} << 31), "a set that can be put in order");
}

std::int64_t SampleOrder::sample_at(std::int64_t position) {
  INVARIANT(position >= 0, "positions count from the beginning");
  if (position / samples_ != epoch_) shuffle(position / samples_);
  return permutation_[static_cast<std::size_t>(position % samples_)];
}

void SampleOrder::shuffle(std::int64_t epoch) {
  epoch_ = epoch;
  std::iota(permutation_.begin(), permutation_.end(), 0U);
  // An odd factor keeps seeds and epochs apart: no epoch of one seed is another's of the next seed.
  Random random(seed_ * 0x9e3779b97f4a7c15 ^ static_cast<std::uint64_t>(epoch));
  for (std::int64_t last = samples_ - 1; last > 0; --last) {
    std::swap(permutation_[static_cast<std::size_t>(last)],
              permutation_[static_cast<std::size_t>(random.between(0, last))]);
  }
}

}  // namespace orrery
