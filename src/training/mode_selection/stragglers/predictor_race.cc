#include "training/mode_selection/stragglers/predictor_race.h"

#include <algorithm>
#include <cmath>
#include <iterator>

#include "base/invariant.h"

namespace orrery {

PredictorRace::PredictorRace(std::vector<std::unique_ptr<IterationPredictor>> entrants,
                             RaceOptions options)
    : entrants_(std::move(entrants)), options_(options) {
  INVARIANT(!entrants_.empty(), "a race needs an entrant");
  INVARIANT(options.horizon > 0, "entrants are judged by what they predict");
  for (const auto& entrant : entrants_) standings_.push_back({.name = entrant->name()});
}

void PredictorRace::add(const IterationHistory& history) {
  if (history.samples.empty()) return;
  const double fact = seconds_a_sample(history.samples.back());
  if (!(fact > 0)) return;
  Forecast& forecast = forecasts_[history.worker];
  if (!forecast.by_entrant.empty()) judge(forecast, fact);
  if (forecast.by_entrant.empty() || ++forecast.facts == options_.horizon) {
    forecast.facts = 0;
    forecast.by_entrant.clear();
    for (const auto& entrant : entrants_) {
      forecast.by_entrant.push_back(entrant->predict(history, options_.horizon));
    }
  }
}

void PredictorRace::judge(const Forecast& forecast, double fact) {
  for (std::size_t i = 0; i < entrants_.size(); ++i) {
    const std::vector<double>& predicted = forecast.by_entrant[i];
    const auto step = static_cast<std::size_t>(forecast.facts);
    // An entrant that predicts nothing, or nonsense, is as wrong as a factor of e.
    double error = 1;
    if (step < predicted.size() && predicted[step] > 0 && std::isfinite(predicted[step])) {
      error = std::min(1.0, std::abs(std::log(predicted[step] / fact)));
    }
    RaceStanding& standing = standings_[i];
    ++standing.errors;
    const double weight = std::max(options_.weight, 1.0 / static_cast<double>(standing.errors));
    standing.error += weight * (error - standing.error);
  }
  choose_leader();
}

void PredictorRace::choose_leader() {
  if (standings_.front().errors < options_.least_errors) return;
  for (std::size_t i = 0; i < standings_.size(); ++i) {
    const double to_beat = standings_[leader_].error * (1 - options_.better_by);
    if (standings_[i].error < to_beat) leader_ = i;
  }
}

std::vector<double> PredictorRace::predict(const IterationHistory& history, int horizon) {
  std::vector<double> predicted = entrants_[leader_]->predict(history, horizon);
  const bool sound = std::ranges::all_of(
      predicted, [](double value) { return std::isfinite(value) && value > 0; });
  return sound ? predicted : entrants_.front()->predict(history, horizon);
}

std::vector<RaceStanding> PredictorRace::standings() const { return standings_; }

std::unique_ptr<PredictorRace> make_predictor_race(
    std::vector<std::unique_ptr<IterationPredictor>> more, RaceOptions options) {
  std::vector<std::unique_ptr<IterationPredictor>> entrants;
  entrants.push_back(make_last_value_predictor());
  entrants.push_back(make_ewma_predictor());
  entrants.push_back(make_ar_predictor());
  std::ranges::move(more, std::back_inserter(entrants));
  return std::make_unique<PredictorRace>(std::move(entrants), options);
}

}  // namespace orrery
