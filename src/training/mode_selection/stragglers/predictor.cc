#include "training/mode_selection/stragglers/predictor.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "base/invariant.h"
#include "base/statistics.h"

namespace orrery {
namespace {

// Oldest first, at most `most`; tasks that were cut to nothing have no speed.
std::vector<double> newest(const IterationHistory& history, std::size_t most) {
  std::vector<double> values;
  for (auto at = history.samples.rbegin(); at != history.samples.rend(); ++at) {
    if (values.size() == most) break;
    if (const double value = seconds_a_sample(*at); value > 0) values.push_back(value);
  }
  std::reverse(values.begin(), values.end());
  return values;
}

class LastValue final : public IterationPredictor {
 public:
  std::string_view name() const override { return "last"; }
  std::vector<double> predict(const IterationHistory& history, int horizon) override {
    const std::vector<double> values = newest(history, 1);
    if (values.empty()) return {};
    return std::vector<double>(static_cast<std::size_t>(horizon), values.back());
  }
};

class Ewma final : public IterationPredictor {
 public:
  explicit Ewma(double weight) : weight_(weight) {
    INVARIANT(weight > 0 && weight <= 1, "a mean that never moves");
    // What lies further back weighs less than a thousandth.
    window_ = weight == 1 ? 1 : static_cast<std::size_t>(std::ceil(-7 / std::log(1 - weight)));
  }
  std::string_view name() const override { return "ewma"; }
  std::vector<double> predict(const IterationHistory& history, int horizon) override {
    const std::vector<double> values = newest(history, window_);
    if (values.empty()) return {};
    double mean = values.front();
    for (const double value : values) mean += weight_ * (value - mean);
    return std::vector<double>(static_cast<std::size_t>(horizon), mean);
  }

 private:
  double weight_;
  std::size_t window_;
};

class Autoregression final : public IterationPredictor {
 public:
  Autoregression(int order, int window)
      : order_(static_cast<std::size_t>(order)), window_(static_cast<std::size_t>(window)) {
    INVARIANT(order > 0 && window > 3 * order, "too few values for the coefficients");
  }
  std::string_view name() const override { return "ar"; }

  std::vector<double> predict(const IterationHistory& history, int horizon) override {
    std::vector<double> values = newest(history, window_);
    if (values.size() < 3 * order_) return mean_.predict(history, horizon);
    double mean = 0;
    for (const double value : values) mean += value;
    mean /= static_cast<double>(values.size());
    const auto [low, high] = std::minmax_element(values.begin(), values.end());
    const double margin = 0.5 * (*high - *low);
    const double least = std::max(*low - margin, *low / 2);
    const double most = *high + margin;

    const std::vector<double> coefficients = fit(values, mean);
    std::vector<double> predicted;
    for (int step = 0; step < horizon; ++step) {
      double next = mean;
      for (std::size_t lag = 0; lag < order_; ++lag) {
        next += coefficients[lag] * (values[values.size() - 1 - lag] - mean);
      }
      values.push_back(predicted.emplace_back(std::clamp(next, least, most)));
    }
    return predicted;
  }

 private:
  std::vector<double> fit(const std::vector<double>& values, double mean) const {
    std::vector<double> matrix(order_ * order_);
    std::vector<double> right(order_);
    std::vector<double> off(values.size());
    for (std::size_t t = 0; t < values.size(); ++t) off[t] = values[t] - mean;
    // Of the values `a` and `b` before each value, over all values that have both.
    const auto product = [&](std::size_t a, std::size_t b) {
      double sum = 0;
      for (std::size_t t = order_; t < off.size(); ++t) sum += off[t - a] * off[t - b];
      return sum;
    };
    const auto at = [&](std::size_t i, std::size_t j) -> double& { return matrix[i * order_ + j]; };
    for (std::size_t i = 0; i < order_; ++i) {
      right[i] = product(0, i + 1);
      at(0, i) = at(i, 0) = product(1, i + 1);
    }
    // Further down the diagonals the same products are summed, but for one at either end.
    for (std::size_t i = 1; i < order_; ++i) {
      for (std::size_t j = i; j < order_; ++j) {
        const double first = off[order_ - 1 - i] * off[order_ - 1 - j];
        const double last = off[off.size() - 1 - i] * off[off.size() - 1 - j];
        at(i, j) = at(j, i) = at(i - 1, j - 1) + first - last;
      }
    }
    // A series that does not move has no covariance to invert.
    double trace = 0;
    for (std::size_t i = 0; i < order_; ++i) trace += matrix[i * order_ + i];
    const double ridge = 1e-3 * trace / static_cast<double>(order_) + 1e-12 * mean * mean + 1e-300;
    for (std::size_t i = 0; i < order_; ++i) matrix[i * order_ + i] += ridge;
    solve_positive_definite(matrix, right);
    return right;
  }

  std::size_t order_;
  std::size_t window_;
  Ewma mean_{0.3};
};

}  // namespace

double seconds_a_sample(const IterationSample& sample) {
  return sample.samples > 0 ? seconds(sample.took) / sample.samples : 0;
}

std::unique_ptr<IterationPredictor> make_last_value_predictor() {
  return std::make_unique<LastValue>();
}
std::unique_ptr<IterationPredictor> make_ewma_predictor(double weight) {
  return std::make_unique<Ewma>(weight);
}
std::unique_ptr<IterationPredictor> make_ar_predictor(int order, int window) {
  return std::make_unique<Autoregression>(order, window);
}

}  // namespace orrery
