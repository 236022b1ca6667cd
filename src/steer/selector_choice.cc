#include "steer/selector_choice.h"

#include <algorithm>
#include <cmath>
#include <limits>

namespace orrery {

SelectorChoice::SelectorChoice(ModeRegression* regression, const SelectorOptions& options)
    : regression_(regression), options_(options), random_(options.seed) {}

void SelectorChoice::saw(const SelectorSample& sample, double lambda) {
  if (!std::isfinite(sample.loss_drop_per_s)) return;
  samples_.push_back(sample);
  heuristic_.push_back(sample.features.gradients_ratio / (1 + lambda * sample.features.staleness));
  const bool due = samples_.size() >= judged_at_ + static_cast<std::size_t>(options_.refit_every);
  if (regression_ != nullptr && due &&
      samples_.size() >= static_cast<std::size_t>(options_.samples_least)) {
    judge();
  }
}

void SelectorChoice::judge() {
  judged_at_ = samples_.size();
  trusted_ = false;
  const auto learned =
      static_cast<std::size_t>(static_cast<double>(samples_.size()) * (1 - options_.held_out));
  const std::span<const SelectorSample> all = samples_;
  if (learned == 0 || learned == samples_.size()) return;
  if (!regression_->fit(all.first(learned)).ok()) return;
  double hh = 0, hy = 0;
  for (std::size_t i = 0; i < learned; ++i) {
    hh += heuristic_[i] * heuristic_[i];
    hy += heuristic_[i] * samples_[i].loss_drop_per_s;
  }
  const double k = hh > 0 ? hy / hh : 0;
  double regression = 0, heuristic = 0;
  for (std::size_t i = learned; i < samples_.size(); ++i) {
    const double fact = samples_[i].loss_drop_per_s;
    const double said = regression_->predict(samples_[i].features);
    regression += (said - fact) * (said - fact);
    heuristic += (k * heuristic_[i] - fact) * (k * heuristic_[i] - fact);
  }
  const auto judged = static_cast<double>(samples_.size() - learned);
  regression_error_ = std::sqrt(regression / judged);
  heuristic_error_ = std::sqrt(heuristic / judged);
  trusted_ = regression_error_ < heuristic_error_;  // false for nonsense, too
  if (trusted_) trusted_ = regression_->fit(all).ok();
}

std::optional<std::size_t> SelectorChoice::choose(std::span<const ModeFeatures> candidates) {
  if (!trusted_ || candidates.empty()) return std::nullopt;
  std::size_t best = 0, second = 0;
  double best_value = -std::numeric_limits<double>::infinity(), second_value = best_value;
  for (std::size_t i = 0; i < candidates.size(); ++i) {
    const double value = regression_->predict(candidates[i]);
    if (!std::isfinite(value)) return std::nullopt;
    if (value > best_value) {
      second = best;
      second_value = best_value;
      best = i;
      best_value = value;
    } else if (value > second_value) {
      second = i;
      second_value = value;
    }
  }
  return candidates.size() > 1 && random_.uniform() < options_.explore ? second : best;
}

}  // namespace orrery
