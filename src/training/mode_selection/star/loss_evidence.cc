#include "training/mode_selection/star/loss_evidence.h"

#include <cmath>

namespace orrery {

LossEvidence::LossEvidence(const LossWindowOptions& window, const StalenessCostOptions& staleness,
                           Duration sample_least)
    : sample_least_(sample_least), cost_(staleness), windows_(window) {}

std::optional<SelectorSample> LossEvidence::add(const IterationSample& sample) {
  return learn(windows_.add(sample));
}

bool LossEvidence::is_other_rate(double rate) const { return std::abs(rate - rate_) > 1e-3 * rate; }

std::optional<SelectorSample> LossEvidence::set_rate(double rate) {
  if (!is_other_rate(rate)) return std::nullopt;
  rate_ = rate;
  return learn(windows_.begin(rate_, 0));
}

void LossEvidence::mode_changed(int settle) {
  present_.reset();
  learn(windows_.begin(rate_, settle));
}

bool LossEvidence::is_description_due(Time now) const {
  return !present_ || now - described_at_ >= sample_least_;
}

void LossEvidence::describe_present(const ModeFeatures& features, double ssgd_batch_s, Time now) {
  described_at_ = now;
  present_ = SelectorSample{.features = features, .ssgd_batch_s = ssgd_batch_s};
}

double LossEvidence::phase() const { return first_loss_ > 0 ? loss_ / first_loss_ : 1; }

std::optional<SelectorSample> LossEvidence::learn(const std::optional<LossWindow>& window) {
  if (!window) return std::nullopt;
  cost_.add(*window);
  if (first_loss_ == 0) first_loss_ = window->loss;
  loss_ = window->loss;
  const double length_s = window->seconds_long();
  if (!present_ || !(length_s > 0) || !(first_loss_ > 0)) return std::nullopt;
  SelectorSample sample = *present_;
  sample.features.phase = phase();
  sample.loss_drop = window->drop * window->samples / length_s * sample.ssgd_batch_s;
  sample.lambda = cost_.lambda();
  sample.at = window->to;
  if (!is_finite(sample)) return std::nullopt;
  return sample;
}

}  // namespace orrery
