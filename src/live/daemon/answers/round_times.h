#pragma once

#include <array>
#include <cstdint>

namespace orrery {

// How long rounds took: their number, sum and maximum, and quantiles that are at most an eighth too
// high, in a table of fixed size.
class RoundTimes {
 public:
  void add(double seconds);

  std::int64_t count() const { return count_; }
  double sum() const { return sum_; }
  double max() const { return max_; }
  // The time that a part `quantile` of the rounds did not exceed; 0 if there were none.
  double quantile(double quantile) const;

 private:
  static constexpr int kBucketsPerOctave = 6;  // 2^(1/6) is 1.12
  static constexpr double kFirst = 1e-6;       // what is shorter counts as this

  std::array<std::int64_t, 32 * kBucketsPerOctave> buckets_{};  // up to an hour
  std::int64_t count_ = 0;
  double sum_ = 0;
  double max_ = 0;
};

}  // namespace orrery
