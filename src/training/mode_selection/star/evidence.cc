#include "training/mode_selection/star/evidence.h"

#include <algorithm>
#include <utility>

namespace orrery {

StarEvidence::StarEvidence(const StarOptions& options,
                           std::vector<std::unique_ptr<IterationPredictor>> predictors)
    : options_(options),
      forecast_(
          {.horizon = options.horizon, .straggler = options.straggler, .plain = options.plain},
          std::move(predictors)),
      losses_(options.window, options.staleness, options.score_least) {}

std::optional<SelectorSample> StarEvidence::add(const IterationSample& sample,
                                                const Mode& present) {
  forecast_.add(sample, present);
  noise_.add(sample);
  return losses_.add(sample);
}

void StarEvidence::add(const UpdateSample& update) {
  noise_.add(update);
  forecast_.add(update);
}

void StarEvidence::members_changed(const Situation& situation) {
  forecast_.keep_only(situation.workers, situation.architecture);
  pace_.forget();
}

void StarEvidence::mode_changed(const Mode& from, const Mode& to, int workers) {
  if (from.ring != to.ring) forecast_.ring_formed();
  losses_.mode_changed(2 * workers);
}

ScoreSituation StarEvidence::score_situation(const Situation& situation) const {
  return {.architecture = situation.architecture,
          .workers = forecast_.workers(),
          .global_batch = static_cast<double>(situation.global_batch),
          .batch_least = options_.batch_least,
          .blocks = options_.blocks,
          .lambda = losses_.lambda_optimistic(),
          .phi = noise_scale(),
          .jitter = forecast_.jitter(),
          .message_s = forecast_.message_s()};
}

ScoredMode StarEvidence::predicted_score(const Situation& situation, const Mode& mode) const {
  return score_mode(score_situation(situation), mode);
}

std::vector<ScoredMode> StarEvidence::predicted_scores(const Situation& situation) const {
  return score_modes(score_situation(situation));
}

void StarEvidence::add_pace(const ScoredMode& predicted, double samples_per_s, double passed_s) {
  pace_.add(predicted.mode, samples_per_s, predicted.pace.samples_per_s, passed_s);
}

ModeFeatures StarEvidence::features(const ScoredMode& scored, const ScoredMode& ssgd,
                                    const Situation& situation) const {
  const auto n = static_cast<double>(situation.workers.size());
  return {.kind = kind_number(scored.mode.rule),
          .x_share = scored.pace.gradients_per_s * scored.pace.interval_s / n,
          .unequal_shares = scored.mode.shares.empty() ? 0.0 : 1.0,
          .gradients_ratio = scored.pace.samples_per_s / ssgd.pace.samples_per_s,
          .staleness = scored.pace.staleness,
          .straggling = straggling_degree(forecast_.times()),
          .noise_ratio = noise_scale() / std::max(1, situation.global_batch),
          .rate = situation.rate,
          .phase = losses_.phase(),
          .compute_share = forecast_.compute_share()};
}

}  // namespace orrery
