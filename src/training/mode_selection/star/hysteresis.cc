#include "training/mode_selection/star/hysteresis.h"

#include <algorithm>
#include <utility>

namespace orrery {
namespace {

constexpr int kScoreRarelyFactor = 8;

}  // namespace

SwitchHysteresis::SwitchHysteresis(const StarOptions& options) : options_(options) {}

void SwitchHysteresis::begin(const Situation& situation) { switched_ = looked_ = mark(situation); }

void SwitchHysteresis::switched(const Situation& situation) {
  has_switched_ = true;
  switched_ = mark(situation);
  score_wait_ = options_.score_least;
}

double SwitchHysteresis::rounds_since(const Mark& mark, const Situation& situation) {
  return static_cast<double>(situation.samples_done - mark.samples) /
         std::max(1, situation.global_batch);
}

bool SwitchHysteresis::may_look(Time now) const {
  return now - looked_.at >= options_.look_least || !seen_enough_;
}

// Before the first switch, and so slow that the usual number of tasks would take long.
bool SwitchHysteresis::starts_slowly(Time now) const {
  return !has_switched_ && now - switched_.at >= options_.slow_start;
}

bool SwitchHysteresis::is_due(const Situation& situation, const IterationForecast& forecast,
                              bool sums) {
  const bool waits_for_hanging = forecast.any_worker_hangs() && !situation.under_way.empty();
  if (!waits_for_hanging && (rounds_since(looked_, situation) < options_.look_rounds ||
                             situation.now - looked_.at < options_.look_least)) {
    return false;
  }
  const bool slowly = starts_slowly(situation.now);
  if (sums && !forecast.ring().knows_sums() && !slowly) return false;
  seen_enough_ = forecast.has_seen(slowly ? options_.tasks_slow : options_.tasks_least);
  return seen_enough_;
}

bool SwitchHysteresis::is_due_early(const Situation& situation, const IterationForecast& forecast,
                                    bool sums) {
  if (has_switched_ || seen_enough_ || (sums && !forecast.ring().has_sums())) return false;
  if (situation.now - looked_early_at_ < options_.look_least) return false;
  looked_early_at_ = situation.now;
  return true;
}

SwitchHysteresis::Stretch SwitchHysteresis::look(const Situation& situation) {
  const Mark before = std::exchange(looked_, mark(situation));
  return {.seconds = seconds(situation.now - before.at),
          .samples = static_cast<double>(situation.samples_done - before.samples)};
}

bool SwitchHysteresis::is_scoring_due(Time now, std::span<const WorkerId> stragglers,
                                      bool at_once) {
  const bool same = std::ranges::equal(stragglers, scored_for_);
  if (!same) score_wait_ = options_.score_least;
  if (!at_once && now - scored_at_ < score_wait_) return false;
  if (same && !at_once) {
    score_wait_ = std::min(2 * score_wait_, kScoreRarelyFactor * options_.score_least);
  }
  scored_at_ = now;
  scored_for_.assign(stragglers.begin(), stragglers.end());
  return true;
}

bool SwitchHysteresis::may_leave(const Situation& situation, bool any_worker_hangs) const {
  if (any_worker_hangs) return true;
  const double least = starts_slowly(situation.now) ? options_.tasks_slow : options_.stay_rounds;
  // Before the first switch, time alone teaches nothing.
  return rounds_since(switched_, situation) >= least &&
         (!has_switched_ || situation.now - switched_.at >= options_.stay_least);
}

}  // namespace orrery
