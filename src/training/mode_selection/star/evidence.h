#pragma once

#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "training/mode_selection/scoring/noise_scale.h"
#include "training/mode_selection/scoring/score.h"
#include "training/mode_selection/star/loss_evidence.h"
#include "training/mode_selection/star/star.h"
#include "training/mode_selection/stragglers/iteration_forecast.h"
#include "training/mode_selection/stragglers/pace_memory.h"

namespace orrery {

// What STAR has measured of a run: how long iterations will take and which workers straggle, the
// gradient noise, the cost of staleness, and by how much predictions of a mode's pace were off.
// Scores modes by it; chooses none.
class StarEvidence {
 public:
  // `options` outlive it. `predictors` run against the three built in.
  StarEvidence(const StarOptions& options,
               std::vector<std::unique_ptr<IterationPredictor>> predictors);

  std::optional<SelectorSample> add(const IterationSample& sample, const Mode& present);
  void add(const UpdateSample& update);
  // Forgets workers that left, and how far predictions were off.
  void members_changed(const Situation& situation);
  void mode_changed(const Mode& from, const Mode& to, int workers);

  const IterationForecast& forecast() const { return forecast_; }
  IterationForecast& forecast() { return forecast_; }
  const LossEvidence& losses() const { return losses_; }
  LossEvidence& losses() { return losses_; }
  double noise_scale() const { return noise_.phi().value_or(0); }  // 0: not known

  // Of the last prediction of `forecast`, whose workers it refers to.
  ScoreSituation score_situation(const Situation& situation) const;
  // The score of a mode, and of all modes, by the predictions alone.
  ScoredMode predicted_score(const Situation& situation, const Mode& mode) const;
  std::vector<ScoredMode> predicted_scores(const Situation& situation) const;
  // What the present mode really did since it was last asked, against its predicted score.
  void add_pace(const ScoredMode& predicted, double samples_per_s, double passed_s);
  void correct(ScoredMode& scored, const Mode& present) const { pace_.correct(scored, present); }

  ModeFeatures features(const ScoredMode& scored, const ScoredMode& ssgd,
                        const Situation& situation) const;

 private:
  const StarOptions& options_;
  IterationForecast forecast_;
  NoiseScale noise_{};
  LossEvidence losses_;
  PaceMemory pace_{};
};

}  // namespace orrery
