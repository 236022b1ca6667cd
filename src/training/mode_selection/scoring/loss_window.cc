#include "training/mode_selection/scoring/loss_window.h"

#include <algorithm>
#include <cmath>

namespace orrery {

std::optional<LossWindow> LossWindows::begin(double rate, int settle) {
  std::optional<LossWindow> done;
  if (long_enough()) done = close();
  points_.clear();
  samples_ = staleness_ = 0;
  rate_ = rate;
  settle_ = std::max(settle, options_.settle);
  started_ = false;
  return done;
}

bool LossWindows::long_enough() const {
  return static_cast<int>(points_.size()) >= options_.gradients_least &&
         seconds(to_) - seconds(from_) >= options_.seconds_least;
}

std::optional<LossWindow> LossWindows::add(const IterationSample& sample) {
  if (sample.samples <= 0 || !std::isfinite(sample.loss) || sample.staleness < 0) {
    return std::nullopt;
  }
  if (settle_ > 0) {
    --settle_;
    return std::nullopt;
  }
  if (!started_) {
    from_ = sample.at;
    started_ = true;
  }
  to_ = sample.at;
  points_.push_back({.at = samples_, .loss = sample.loss, .weight = double(sample.samples)});
  samples_ += sample.samples;
  staleness_ += static_cast<double>(sample.staleness);
  if (!long_enough()) return std::nullopt;
  LossWindow window = close();
  points_.clear();
  samples_ = staleness_ = 0;
  from_ = to_;
  return window;
}

LossWindow LossWindows::close() {
  double weight = 0, mean_x = 0, mean_y = 0;
  for (const Point& point : points_) {
    weight += point.weight;
    mean_x += point.weight * point.at;
    mean_y += point.weight * point.loss;
  }
  mean_x /= weight;
  mean_y /= weight;
  double xx = 0, xy = 0;
  for (const Point& point : points_) {
    xx += point.weight * (point.at - mean_x) * (point.at - mean_x);
    xy += point.weight * (point.at - mean_x) * (point.loss - mean_y);
  }
  const double slope = xx > 0 ? xy / xx : 0;
  double residual = 0;
  for (const Point& point : points_) {
    const double off = point.loss - mean_y - slope * (point.at - mean_x);
    residual += point.weight * off * off;
  }
  const double n = static_cast<double>(points_.size());
  LossWindow window{.from = from_, .to = to_, .samples = samples_, .rate = rate_};
  window.gradients = static_cast<int>(points_.size());
  window.staleness = staleness_ / n;
  window.loss = mean_y - slope * mean_x;
  const double scale = std::max(window.loss, 1e-12);
  window.drop = -slope / scale;
  window.drop_noise = xx > 0 && n > 2 ? std::sqrt(residual / (n - 2) / xx) / scale : 0;
  return window;
}

}  // namespace orrery
