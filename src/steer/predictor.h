#pragma once

#include <memory>
#include <span>
#include <string_view>
#include <vector>

#include "sync/director.h"

namespace orrery {

// What is known of a worker's iterations, oldest first.
struct IterationHistory {
  WorkerId worker{};
  std::vector<IterationSample> samples{};
};

// Foresees a worker's iteration times. Seconds a sample, so that unequal batches are comparable;
// `ahead` iterations, the first being the next.
class IterationPredictor {
 public:
  virtual ~IterationPredictor() = default;
  virtual std::string_view name() const = 0;
  virtual std::vector<double> foresee(const IterationHistory& history, int ahead) = 0;
};

std::unique_ptr<IterationPredictor> make_last_value_predictor();
std::unique_ptr<IterationPredictor> make_ewma_predictor(double weight = 0.3);
std::unique_ptr<IterationPredictor> make_ar_predictor(int order = 4, int window = 60);

}  // namespace orrery
