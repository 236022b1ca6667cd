#pragma once

#include <map>
#include <memory>
#include <string_view>
#include <vector>

#include "training/mode_selection/stragglers/predictor.h"

namespace orrery {

struct RaceOptions {
  int horizon = 8;          // iterations over which the entrants are judged
  double weight = 0.02;     // of a new error in the rolling one
  int least_errors = 30;    // before these are in, the first entrant speaks
  double better_by = 0.03;  // share of the leader's error that another must be below it
};

struct RaceStanding {
  std::string_view name;
  double error = 0;  // rolling mean of |ln(predicted / fact)|
  std::int64_t errors = 0;
};

// Several predictors that predict the same iterations; the one whose rolling error is least speaks.
// Predictions are compared with what comes after, so none is judged by what it has seen.
// Each entrant is asked once in `horizon` iterations of a worker, and the leader when it is to
// speak.
class PredictorRace final : public IterationPredictor {
 public:
  // At least one; put the simplest first.
  explicit PredictorRace(std::vector<std::unique_ptr<IterationPredictor>> entrants,
                         RaceOptions options = {});

  // To be called after each iteration of a worker, with its history up to it.
  void add(const IterationHistory& history);
  void forget(WorkerId worker) { forecasts_.erase(worker); }

  std::string_view name() const override { return "race"; }
  std::vector<double> predict(const IterationHistory& history, int horizon) override;
  std::vector<RaceStanding> standings() const;
  std::string_view leader() const { return standings_[leader_].name; }

 private:
  struct Forecast {
    int facts = 0;  // how many of the predicted have come
    std::vector<std::vector<double>> by_entrant{};
  };
  void judge(const Forecast& forecast, double fact);
  void choose_leader();

  std::vector<std::unique_ptr<IterationPredictor>> entrants_;
  RaceOptions options_;
  std::vector<RaceStanding> standings_;
  std::size_t leader_ = 0;
  std::map<WorkerId, Forecast> forecasts_;
};

// "last", "ewma" and "ar", and then those given.
std::unique_ptr<PredictorRace> make_predictor_race(
    std::vector<std::unique_ptr<IterationPredictor>> more = {}, RaceOptions options = {});

}  // namespace orrery
