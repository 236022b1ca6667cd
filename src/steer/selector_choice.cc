#include "steer/selector_choice.h"

#include <algorithm>
#include <cmath>
#include <limits>

namespace orrery {

SelectorChoice::SelectorChoice(ModeRegression* regression, const SelectorOptions& options,
                               const SelectorExperience& experience)
    : regression_(regression), options_(options), random_(options.seed) {
  for (const auto& run : experience) {
    for (const SelectorSample& sample : run) keep(sample);
    ++run_;
  }
  judge();
}

void SelectorChoice::saw(const SelectorSample& sample) {
  keep(sample);
  const bool first = since_judged_ >= static_cast<int>(samples_.size());
  if (first || since_judged_ >= options_.refit_every) judge();
}

void SelectorChoice::keep(const SelectorSample& sample) {
  if (!is_finite(sample)) return;
  samples_.push_back(sample);
  run_of_.push_back(run_);
  ++since_judged_;
  if (samples_.size() <= static_cast<std::size_t>(options_.samples_most)) return;
  samples_.erase(samples_.begin());
  run_of_.erase(run_of_.begin());
}

// Windows of one run are alike, and one that is learned from in part is foreseen too easily. So
// runs are held out whole, unless that leaves less than half to learn from.
std::size_t SelectorChoice::learned_from() const {
  const std::size_t size = samples_.size();
  const auto cut = static_cast<std::size_t>(static_cast<double>(size) * (1 - options_.held_out));
  if (cut >= size) return cut;
  const auto begins = std::ranges::lower_bound(run_of_, run_of_[cut]) - run_of_.begin();
  const auto whole = static_cast<std::size_t>(begins);
  return 2 * whole >= size ? whole : cut;
}

void SelectorChoice::judge() {
  if (regression_ == nullptr) return;
  if (samples_.size() < static_cast<std::size_t>(options_.samples_least)) return;
  since_judged_ = 0;
  trusted_ = false;
  const std::span<const SelectorSample> all = samples_;
  const std::size_t learned = learned_from();
  const auto judged = judge_regression(*regression_, all.first(learned), all.subspan(learned));
  if (!judged.ok()) return;
  errors_ = judged.value();
  trusted_ = errors_.regression_is_best() && regression_->fit(all).ok();  // nonsense is not better
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
