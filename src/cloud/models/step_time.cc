#include "cloud/models/step_time.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>

#include "base/statistics.h"

namespace orrery {
namespace {

// Least squares without a ridge: `rows` are the terms of each equation, scaled so that each column
// has length 1. Fails if columns depend on each other.
Result<std::vector<double>> solve_rows(std::vector<std::vector<double>> rows,
                                       std::span<const double> values) {
  const std::size_t n = rows.empty() ? 0 : rows.front().size();
  std::vector<double> scale(n), square(n * n), side(n);
  for (std::size_t i = 0; i < n; ++i) {
    for (const auto& row : rows) scale[i] += row[i] * row[i];
    scale[i] = std::sqrt(scale[i]);
    if (scale[i] == 0) return Error{Code::FailedPrecondition, "a term is 0 in every sample"};
  }
  for (std::size_t r = 0; r < rows.size(); ++r) {
    for (std::size_t i = 0; i < n; ++i) {
      rows[r][i] /= scale[i];
      side[i] += rows[r][i] * values[r];
    }
    for (std::size_t i = 0; i < n * n; ++i) square[i] += rows[r][i / n] * rows[r][i % n];
  }
  // The determinant is 0 if columns depend on each other; elimination gives it as a by-product.
  std::vector<double> reduced = square;
  for (std::size_t i = 0; i < n; ++i) {
    if (!(reduced[i * n + i] > 1e-13)) {
      return Error{Code::FailedPrecondition, "the samples do not determine the model"};
    }
    for (std::size_t j = i + 1; j < n; ++j) {
      const double factor = reduced[j * n + i] / reduced[i * n + i];
      for (std::size_t k = i; k < n; ++k) reduced[j * n + k] -= factor * reduced[i * n + k];
    }
  }
  solve_positive_definite(square, side);
  for (std::size_t i = 0; i < n; ++i) side[i] /= scale[i];
  return side;
}

}  // namespace

double Polynomial::at(double x) const {
  double value = 0;
  for (auto i = coefficients.size(); i-- > 0;) value = value * x + coefficients[i];
  return value;
}

Result<Polynomial> fit_polynomial(std::span<const FitPoint> points, int degree) {
  std::vector<std::vector<double>> rows;
  std::vector<double> values;
  for (const FitPoint& point : points) {
    std::vector<double> row(static_cast<std::size_t>(degree) + 1, 1);
    for (std::size_t i = 1; i < row.size(); ++i) row[i] = row[i - 1] * point.x;
    rows.push_back(std::move(row));
    values.push_back(point.y);
  }
  if (rows.empty()) return Error{Code::FailedPrecondition, "a fit needs samples"};
  TRY_ASSIGN(std::vector<double> found, solve_rows(std::move(rows), values));
  return Polynomial{std::move(found)};
}

double PowerLaw::at(double x) const { return factor * std::pow(x, exponent); }

Result<PowerLaw> fit_power_law(std::span<const FitPoint> points) {
  std::vector<FitPoint> logs;
  for (const FitPoint& point : points) logs.push_back({std::log(point.x), std::log(point.y)});
  TRY_ASSIGN(const Polynomial line, fit_polynomial(logs, 1));
  return PowerLaw{std::exp(line.coefficients[0]), line.coefficients[1]};
}

double StepTimeModel::step_s(double gflop, double tflops) const {
  return factor * std::pow(gflop, exponent) * std::pow(tflops, capacity_exponent);
}

Result<StepTimeModel> fit_step_time(std::span<const StepTimeSample> samples) {
  std::vector<std::vector<double>> rows;
  std::vector<double> values;
  for (const StepTimeSample& sample : samples) {
    rows.push_back({1, std::log(sample.gflop), std::log(sample.tflops)});
    values.push_back(std::log(sample.step_s));
  }
  if (rows.empty()) return Error{Code::FailedPrecondition, "a fit needs samples"};
  TRY_ASSIGN(const std::vector<double> found, solve_rows(std::move(rows), values));
  return StepTimeModel{std::exp(found[0]), found[1], found[2]};
}

}  // namespace orrery
