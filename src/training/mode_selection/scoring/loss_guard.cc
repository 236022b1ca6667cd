#include "training/mode_selection/scoring/loss_guard.h"

#include <algorithm>
#include <cmath>

#include "training/mode_selection/scoring/score.h"

namespace orrery {

void LossGuard::add(const IterationSample& sample) {
  ++since_switch_;
  if (!std::isfinite(sample.loss)) {
    not_finite_ = true;
    return;
  }
  if (sample.samples <= 0) return;
  ++seen_;
  const double first = 1.0 / static_cast<double>(seen_);
  const double weight = std::max(options_.weight, first);
  const double off = sample.loss - mean_;
  mean_ += weight * off;
  variance_ += seen_ == 1 ? 0 : weight * (off * off - variance_);
  slow_ += std::max(options_.weight_slow, first) * (sample.loss - slow_);
  // While the mean still hangs on the first few gradients there is no lowest to speak of.
  const double level = std::max(slow_, mean_);
  lowest_ = seen_ <= options_.gradients_least ? level : std::min(lowest_, level);
  const double of_mean = std::sqrt(variance_ * options_.weight / (2 - options_.weight));
  const double rise = mean_ - lowest_;
  const bool looks = since_switch_ >= options_.gradients_least;
  const bool high =
      rise > options_.deviations * of_mean && rise > options_.rise_least * std::abs(lowest_);
  risen_ = looks && high ? risen_ + 1 : 0;
  const bool far = sample.loss - lowest_ > options_.rise_most * std::abs(lowest_);
  far_ = looks && far ? far_ + 1 : 0;
}

void LossGuard::switched(bool less_stale) {
  since_switch_ = less_stale ? options_.gradients_least - options_.gradients_settling : 0;
  not_finite_ = false;
  risen_ = far_ = 0;
  // A rise in the mode before is not this one's fault.
  lowest_ = std::max(slow_, mean_);
}

void LossGuard::keep_away(const Mode& mode, double staleness, Time now) {
  auto at = std::ranges::find_if(away_, [&](const Away& a) { return same_family(a.mode, mode); });
  if (at == away_.end()) at = away_.insert(away_.end(), Away{.mode = mode});
  at->staleness = staleness;
  at->until = now + options_.away_first * (1 << std::min(at->times, 16));
  ++at->times;
}

bool LossGuard::keeps_away(const Mode& mode, double staleness, Time now) const {
  return std::ranges::any_of(away_, [&](const Away& away) {
    const bool as_stale = away.staleness > 0 && staleness >= away.staleness;
    return now < away.until && (as_stale || same_family(away.mode, mode));
  });
}

}  // namespace orrery
