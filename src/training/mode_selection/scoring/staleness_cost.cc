#include "training/mode_selection/scoring/staleness_cost.h"

#include <algorithm>
#include <cmath>
#include <vector>

namespace orrery {
namespace {

constexpr double kSameRate = 0.05;
constexpr int kGridPoints = 61;
constexpr double kGridFactor = 64;        // up and down from the prior
constexpr double kTrendOverWindow = 0.2;  // deviation of what a window changes, share of the drop

}  // namespace

StalenessCost::StalenessCost(const StalenessCostOptions& options)
    : options_(options),
      lambda_(options.prior),
      lambda_optimistic_(options.prior / options.prior_factor) {}

double staleness_prior(double momentum) {
  constexpr double kMomentum = 0.9;  // of the runs that the prior comes from
  return kStalenessCostPrior * (1 - kMomentum) / (1 - std::clamp(momentum, 0.0, 0.99));
}

void StalenessCost::add(const LossWindow& window) {
  if (!(window.drop_noise > 0) || !std::isfinite(window.drop)) return;
  if (!windows_.empty() && std::abs(windows_.back().rate - window.rate) > kSameRate * window.rate) {
    windows_.clear();
  }
  windows_.push_back(window);
  if (windows_.size() > static_cast<std::size_t>(options_.windows)) windows_.pop_front();
  estimate();
}

// Half the weighted sum of squares that the best line leaves, the trend's own prior included.
double StalenessCost::misfit(double lambda) const {
  double mean_drop = 0;
  for (const LossWindow& window : windows_) mean_drop += std::abs(window.drop);
  mean_drop /= static_cast<double>(windows_.size());
  const double trend = kTrendOverWindow * mean_drop;

  double aa = 0, ab = 0, bb = 1 / (trend * trend + 1e-300), ay = 0, by = 0, yy = 0;
  const double middle = (static_cast<double>(windows_.size()) - 1) / 2;
  for (std::size_t k = 0; k < windows_.size(); ++k) {
    const LossWindow& window = windows_[k];
    const double noise = std::hypot(window.drop_noise, options_.model_error * mean_drop);
    const double f = 1 / (1 + lambda * window.staleness) / noise;
    const double g = f * (static_cast<double>(k) - middle);
    const double y = window.drop / noise;
    aa += f * f;
    ab += f * g;
    bb += g * g;
    ay += f * y;
    by += g * y;
    yy += y * y;
  }
  const double determinant = aa * bb - ab * ab;
  if (!(determinant > 0)) return 0;
  const double a = (ay * bb - by * ab) / determinant;
  const double b = (by * aa - ay * ab) / determinant;
  return 0.5 * (yy - a * ay - b * by);
}

void StalenessCost::estimate() {
  lambda_ = options_.prior;
  lambda_optimistic_ = options_.prior / options_.prior_factor;
  double least = 1e300, most = 0;
  for (const LossWindow& window : windows_) {
    least = std::min(least, window.staleness);
    most = std::max(most, window.staleness);
  }
  if (most - least < 0.05) return;
  const double spread = std::log(options_.prior_factor);
  std::vector<double> logs, surprise;
  for (int i = 0; i < kGridPoints; ++i) {
    const double off = std::log(kGridFactor) * (2.0 * i / (kGridPoints - 1) - 1);
    logs.push_back(off);
    surprise.push_back(misfit(options_.prior * std::exp(off)) + 0.5 * off * off / spread / spread);
  }
  const double best = *std::ranges::min_element(surprise);
  double weight = 0, sum = 0, squares = 0;
  for (std::size_t i = 0; i < logs.size(); ++i) {
    const double likely = std::exp(best - surprise[i]);
    weight += likely;
    sum += likely * logs[i];
    squares += likely * logs[i] * logs[i];
  }
  const double mean = sum / weight;
  const double deviation = std::sqrt(std::max(0.0, squares / weight - mean * mean));
  lambda_ = options_.prior * std::exp(mean);
  lambda_optimistic_ = options_.prior * std::exp(mean - deviation);
}

}  // namespace orrery
