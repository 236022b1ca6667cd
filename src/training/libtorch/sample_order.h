#pragma once

#include <cstdint>
#include <vector>

namespace orrery {

// The endless order of a training set: epoch after epoch, each a permutation of its own. Which
// sample stands at a position depends on the seed and the position alone, so every process agrees
// without talking. Only the epoch last asked about is kept; tasks come nearly in order.
class SampleOrder {
 public:
  SampleOrder(std::int64_t samples, std::uint64_t seed);  // samples in 1 .. 2^31

  std::int64_t sample_at(std::int64_t position);

 private:
  void shuffle(std::int64_t epoch);

  std::int64_t samples_;
  std::uint64_t seed_;
  std::int64_t epoch_ = -1;
  std::vector<std::uint32_t> permutation_;
};

}  // namespace orrery
