#include "training/colocation/meters.h"

#include <algorithm>

namespace orrery {
namespace {

constexpr double kForgets = 0.05;
constexpr double kRatesDiffer = 0.01;  // variance of rate ratios from which a slope is believed

double odds(double cut) { return cut / (1 - std::min(cut, 0.99)); }

}  // namespace

void SensitivityMeter::add(double cut, double slowdown) {
  if (!(cut > 0)) return;
  const double x = odds(cut);
  xy_ = (1 - kForgets) * xy_ + x * std::max(slowdown, 0.0);
  xx_ = (1 - kForgets) * xx_ + x * x;
}

double SensitivityMeter::sensitivity() const { return xy_ / xx_; }

double SensitivityMeter::slowdown(double cut) const {
  return cut > 0 ? sensitivity() * odds(cut) : 0;
}

void ExtraMeter::add(double rate_ratio, const Load& load) {
  const double keep = 1 - kForgets;
  const double x = rate_ratio - 1;
  weight_ = keep * weight_ + 1;
  x_ = keep * x_ + x;
  xx_ = keep * xx_ + x * x;
  y_ = y_ * keep + load;
  xy_ = xy_ * keep + load * x;
}

Load ExtraMeter::extra(double rate_ratio) const {
  if (weight_ == 0) return {};
  const double mean_x = x_ / weight_;
  const Load mean_y = y_ * (1 / weight_);
  const double variance = xx_ / weight_ - mean_x * mean_x;
  Load slope = mean_y * (1 / (1 + std::max(mean_x, -0.9)));
  if (variance > kRatesDiffer) {
    slope = (xy_ * (1 / weight_) - mean_y * mean_x) * (1 / variance);
  }
  return slope.positive() * std::max(rate_ratio - 1, 0.0);
}

Load ExtraMeter::base() const {
  if (weight_ == 0) return {};
  const double mean_x = x_ / weight_;
  const Load slope = extra(2);
  return (y_ * (1 / weight_) - slope * mean_x).positive();
}

}  // namespace orrery
