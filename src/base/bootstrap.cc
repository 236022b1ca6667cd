#include "base/bootstrap.h"

#include <algorithm>
#include <cmath>

#include "base/invariant.h"
#include "base/random.h"
#include "base/statistics.h"

namespace orrery {
namespace {

constexpr std::size_t kSamples = 2000;
constexpr double kOutside = 0.05;  // of the samples, half on each side

double sum_of(std::span<const double> values, std::span<const std::uint32_t> picks) {
  double sum = 0;
  for (const std::uint32_t pick : picks) sum += values[pick];
  return sum;
}

}  // namespace

Bootstrap::Bootstrap(std::size_t count, std::uint64_t seed) : count_(count) {
  INVARIANT(count >= 2, "one value says nothing about its spread");
  Random random(seed);
  picks_.resize(kSamples * count);
  for (std::uint32_t& pick : picks_) {
    pick = static_cast<std::uint32_t>(random.between(0, static_cast<std::int64_t>(count) - 1));
  }
}

ConfidenceInterval Bootstrap::of(
    const std::function<double(std::span<const std::uint32_t>)>& figure) const {
  std::vector<double> figures;
  figures.reserve(kSamples);
  for (std::size_t first = 0; first < picks_.size(); first += count_) {
    figures.push_back(figure(std::span(picks_).subspan(first, count_)));
  }
  std::ranges::sort(figures);
  return {quantile(figures, kOutside / 2, QuantileRule::Interpolated),
          quantile(figures, 1 - kOutside / 2, QuantileRule::Interpolated)};
}

ConfidenceInterval Bootstrap::of_mean(std::span<const double> values) const {
  INVARIANT(values.size() == count_, "the draws are for samples of this size");
  return of([&](auto picks) { return sum_of(values, picks) / static_cast<double>(count_); });
}

ConfidenceInterval Bootstrap::of_ratio(std::span<const double> above,
                                       std::span<const double> below) const {
  INVARIANT(above.size() == count_ && below.size() == count_,
            "the draws are for samples of this size");
  return of([&](auto picks) { return sum_of(above, picks) / sum_of(below, picks); });
}

}  // namespace orrery
