#include "training/mode_selection/scoring/selector_choice.h"

#include <algorithm>
#include <cmath>
#include <functional>
#include <utility>

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

void SelectorChoice::add(const SelectorSample& sample) {
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

// Windows of one run are alike, and one that is learned from in part is predicted too easily. So
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

bool SelectorChoice::has_seen(const ModeFeatures& mode) const {
  constexpr double kSameShare = 0.1, kSameStaleness = 1;
  return std::ranges::count_if(samples_, [&mode](const SelectorSample& sample) {
           const ModeFeatures& f = sample.features;
           return f.kind == mode.kind && f.unequal_shares == mode.unequal_shares &&
                  std::abs(f.x_share - mode.x_share) <= kSameShare &&
                  std::abs(f.staleness - mode.staleness) <= kSameStaleness;
         }) >= options_.near_least;
}

std::optional<std::size_t> SelectorChoice::choose(std::span<const ModeFeatures> candidates) {
  if (!trusted_) return std::nullopt;
  std::vector<std::pair<double, std::size_t>> known;  // how fast the loss falls, and where
  for (std::size_t i = 0; i < candidates.size(); ++i) {
    if (!has_seen(candidates[i])) continue;
    known.emplace_back(regression_->predict(candidates[i]), i);
    if (!std::isfinite(known.back().first)) return std::nullopt;
  }
  if (known.size() < 2) return std::nullopt;
  std::ranges::stable_sort(known, std::greater{}, [](const auto& each) { return each.first; });
  return known[random_.uniform() < options_.explore ? 1 : 0].second;
}

}  // namespace orrery
