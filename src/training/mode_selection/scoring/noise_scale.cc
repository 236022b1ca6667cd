#include "training/mode_selection/scoring/noise_scale.h"

#include <cmath>

namespace orrery {
namespace {

constexpr std::size_t kTermsKept = 4096;

}  // namespace

void NoiseScale::add(const IterationSample& sample) {
  if (sample.staleness != 0 || sample.samples <= 0) return;
  newest_.push_back({.samples = static_cast<double>(sample.samples), .norm2 = sample.norm2});
  if (newest_.size() > kTermsKept) newest_.pop_front();
}

// Sum of 1/b over the terms. They are the newest iterations whose norms sum to what the update
// says; where they are not (an update reported late), all are taken to be of one size.
double NoiseScale::inverse_samples(const UpdateSample& update) const {
  const auto terms = static_cast<std::size_t>(update.fresh);
  const double equal = static_cast<double>(update.fresh) * update.fresh / update.fresh_samples;
  for (std::size_t late = 0; late + terms <= newest_.size() && late <= 8 * terms; ++late) {
    double norm2 = 0;
    double samples = 0;
    double inverse = 0;
    for (std::size_t i = 0; i < terms; ++i) {
      const FreshTerm& term = newest_[newest_.size() - 1 - late - i];
      norm2 += term.norm2;
      samples += term.samples;
      inverse += 1 / term.samples;
    }
    const bool same_norms = std::abs(norm2 - update.fresh_norm2_sum) <= 1e-4 * norm2;
    if (same_norms && std::abs(samples - update.fresh_samples) < 0.5) return inverse;
  }
  return equal;
}

void NoiseScale::add(const UpdateSample& update) {
  if (update.fresh < 2 || update.fresh_samples <= 0 || !(update.fresh_mean_norm2 > 0)) return;
  if (!std::isfinite(update.fresh_norm2_sum) || !std::isfinite(update.fresh_mean_norm2)) return;
  const double n = update.fresh;
  const double samples = update.fresh_samples;
  const double mean_of_norms = update.fresh_norm2_sum / n;
  const double spread = inverse_samples(update) / n - 1 / samples;
  if (!(spread > 0)) return;
  const double variance = (mean_of_norms - update.fresh_mean_norm2) / spread;
  const double gradient = update.fresh_mean_norm2 - variance / samples;
  variance_ = smoothing_ * variance_ + (1 - smoothing_) * variance;
  gradient_ = smoothing_ * gradient_ + (1 - smoothing_) * gradient;
  weight_ = smoothing_ * weight_ + (1 - smoothing_);
  ++measured_;
}

double NoiseScale::gradient_norm2() const { return weight_ > 0 ? gradient_ / weight_ : 0; }
double NoiseScale::variance() const { return weight_ > 0 ? variance_ / weight_ : 0; }

std::optional<double> NoiseScale::phi() const {
  if (measured_ == 0 || !(gradient_ > 0) || !(variance_ >= 0)) return std::nullopt;
  return variance_ / gradient_;
}

}  // namespace orrery
