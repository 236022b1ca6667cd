#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <ranges>
#include <span>
#include <vector>

namespace orrery {

// Which of n ascending values is the quantile `part`, from 0 to 1. The rules differ in its rank,
// counted from 0; the highest rank is n - 1. Published figures were made with different rules.
enum class QuantileRule {
  Nearest,       // ceil(part n) - 1: the least value that a share `part` of all does not exceed
  Below,         // floor(part (n - 1))
  Above,         // floor(part n)
  Interpolated,  // part (n - 1): on the line between the two values beside it
};

// `sorted` is ascending and not empty.
double quantile(std::span<const double> sorted, double part, QuantileRule rule);

// The value in the middle; of an even number, the mean of the two in the middle. `values` is not
// empty; infinite values are allowed.
double median(std::vector<double> values);
double median_of_sorted(std::span<const double> sorted);

// The value of rank n / 2, so that the median is always one of the values, which need `<` only.
// `values` is not empty and is reordered.
template <std::ranges::random_access_range Values>
auto upper_median(Values&& values) {
  const auto middle = values.begin() + std::ranges::ssize(values) / 2;
  std::ranges::nth_element(values, middle);
  return *middle;
}

// Solves a system whose matrix is symmetric and positive definite, by elimination without
// exchange. `matrix` holds n rows of n values and is overwritten; `right` becomes the solution.
void solve_positive_definite(std::span<double> matrix, std::span<double> right);

// Least squares by the normal equations: the x that makes the sum of (row x - value)^2 least. A
// ridge keeps them solvable; it matters only if a column is empty or a multiple of another.
template <std::size_t kTerms>
class LeastSquares {
 public:
  using Terms = std::array<double, kTerms>;

  void add(const Terms& row, double value) {
    for (std::size_t i = 0; i < kTerms; ++i) {
      for (std::size_t j = 0; j < kTerms; ++j) square_[i * kTerms + j] += row[i] * row[j];
      side_[i] += row[i] * value;
    }
    values_ += value * value;
  }

  Terms solve() const {
    auto square = square_;
    Terms x = side_;
    for (std::size_t i = 0; i < kTerms; ++i) {
      double& diagonal = square[i * kTerms + i];
      diagonal += 1e-9 * (1 + diagonal);
    }
    solve_positive_definite(square, x);
    return x;
  }

  // The sum of squared residuals at x.
  double residual(const Terms& x) const {
    double sum = values_;
    for (std::size_t i = 0; i < kTerms; ++i) {
      sum -= 2 * x[i] * side_[i];
      for (std::size_t j = 0; j < kTerms; ++j) sum += x[i] * x[j] * square_[i * kTerms + j];
    }
    return std::max(0.0, sum);
  }

 private:
  std::array<double, kTerms * kTerms> square_{};
  Terms side_{};
  double values_ = 0;
};

}  // namespace orrery
