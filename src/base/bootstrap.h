#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>
#include <vector>

namespace orrery {

struct ConfidenceInterval {
  double low = 0;
  double high = 0;
};

// Percentile intervals by the bootstrap: a figure is computed over samples drawn from the sample
// with replacement. The draws are made once, so that all figures over the same repetitions share
// them, and the same seed gives the same intervals on every machine.
class Bootstrap {
 public:
  // Of samples of `count` values, 2 or more.
  Bootstrap(std::size_t count, std::uint64_t seed);

  // Of the mean; 95 %.
  ConfidenceInterval of_mean(std::span<const double> values) const;
  // Of the mean of `above` over the mean of `below`, value by value drawn together.
  ConfidenceInterval of_ratio(std::span<const double> above, std::span<const double> below) const;

 private:
  ConfidenceInterval of(const std::function<double(std::span<const std::uint32_t>)>& figure) const;

  std::size_t count_;
  std::vector<std::uint32_t> picks_;  // `count_` for each sample
};

}  // namespace orrery
