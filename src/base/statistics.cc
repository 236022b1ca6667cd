#include "base/statistics.h"

#include <cmath>

namespace orrery {

double quantile(std::span<const double> sorted, double part, QuantileRule rule) {
  const auto count = static_cast<double>(sorted.size());
  const std::size_t last = sorted.size() - 1;
  const auto at = [&](double rank) {
    return sorted[std::min(static_cast<std::size_t>(std::max(rank, 0.0)), last)];
  };
  switch (rule) {
    case QuantileRule::Nearest:
      return at(std::ceil(part * count) - 1);
    case QuantileRule::Below:
      return at(part * static_cast<double>(last));
    case QuantileRule::Above:
      return at(part * count);
    case QuantileRule::Interpolated:
      break;
  }
  const double rank = part * static_cast<double>(last);
  const double floor = std::floor(rank);
  return at(rank) + (at(floor + 1) - at(rank)) * (rank - floor);
}

double median_of_sorted(std::span<const double> sorted) {
  const std::size_t half = sorted.size() / 2;
  return sorted.size() % 2 == 1 ? sorted[half] : (sorted[half - 1] + sorted[half]) / 2;
}

double median(std::vector<double> values) {
  std::ranges::sort(values);
  return median_of_sorted(values);
}

void solve_positive_definite(std::span<double> matrix, std::span<double> right) {
  const std::size_t n = right.size();
  for (std::size_t i = 0; i < n; ++i) {
    for (std::size_t j = i + 1; j < n; ++j) {
      const double factor = matrix[j * n + i] / matrix[i * n + i];
      for (std::size_t k = i; k < n; ++k) matrix[j * n + k] -= factor * matrix[i * n + k];
      right[j] -= factor * right[i];
    }
  }
  for (std::size_t i = n; i-- > 0;) {
    for (std::size_t k = i + 1; k < n; ++k) right[i] -= matrix[i * n + k] * right[k];
    right[i] /= matrix[i * n + i];
  }
}

}  // namespace orrery
