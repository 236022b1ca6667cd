#include "training/twin/ranking.h"

#include <algorithm>
#include <cmath>
#include <vector>

namespace orrery {
namespace {

// From 1; equal values share the mean of their ranks.
std::vector<double> ranks_of(const std::vector<double>& values) {
  std::vector<double> ranks;
  for (const double value : values) {
    const auto below = std::ranges::count_if(values, [&](double other) { return other < value; });
    const auto equal = std::ranges::count(values, value);
    ranks.push_back(static_cast<double>(below) + (static_cast<double>(equal) + 1) / 2);
  }
  return ranks;
}

double correlation(const std::vector<double>& a, const std::vector<double>& b) {
  const auto count = static_cast<double>(a.size());
  const double mean = (count + 1) / 2;  // of ranks, of either
  double product = 0, square_a = 0, square_b = 0;
  for (std::size_t i = 0; i < a.size(); ++i) {
    product += (a[i] - mean) * (b[i] - mean);
    square_a += (a[i] - mean) * (a[i] - mean);
    square_b += (b[i] - mean) * (b[i] - mean);
  }
  return square_a > 0 && square_b > 0 ? product / std::sqrt(square_a * square_b) : 0;
}

}  // namespace

Ranking rank(std::span<const std::pair<double, double>> values, double noise) {
  Ranking found;
  std::vector<double> measured, predicted;
  for (std::size_t i = 0; i < values.size(); ++i) {
    measured.push_back(values[i].first);
    predicted.push_back(values[i].second);
    for (std::size_t j = 0; j < i; ++j) {
      const auto [less, more] = std::minmax(values[i].first, values[j].first);
      if (more - less <= noise * less) continue;
      ++found.pairs;
      const bool first_less = values[i].first < values[j].first;
      found.alike +=
          first_less ? values[i].second < values[j].second : values[i].second > values[j].second;
    }
  }
  if (values.size() >= 3) found.correlation = correlation(ranks_of(measured), ranks_of(predicted));
  return found;
}

}  // namespace orrery
