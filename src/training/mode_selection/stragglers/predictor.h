#pragma once

#include <memory>
#include <span>
#include <string_view>
#include <vector>

#include "training/sync/director.h"

namespace orrery {

// What is known of a worker's iterations, oldest first.
struct IterationHistory {
  WorkerId worker{};
  std::vector<IterationSample> samples{};
};

// Predicts a worker's iteration times. Seconds a sample, so that unequal batches are comparable;
// `horizon` iterations, the first being the next. Of a worker without history nothing is predicted.
class IterationPredictor {
 public:
  virtual ~IterationPredictor() = default;
  virtual std::string_view name() const = 0;
  virtual std::vector<double> predict(const IterationHistory& history, int horizon) = 0;
};

// "last": it stays as it is. "ewma": it stays at the weighted mean. "ar": an autoregression of this
// order with a constant, by least squares over the newest `window` iterations; what it predicts
// stays within what the window has seen, with half as much again to either side.
std::unique_ptr<IterationPredictor> make_last_value_predictor();
std::unique_ptr<IterationPredictor> make_ewma_predictor(double weight = 0.3);
std::unique_ptr<IterationPredictor> make_ar_predictor(int order = 4, int window = 60);

// A task's seconds a sample; 0 if it was cut before anything was done.
double seconds_a_sample(const IterationSample& sample);

}  // namespace orrery
