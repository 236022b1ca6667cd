#pragma once

#include <utility>
#include <vector>

#include "training/sync/director.h"

namespace orrery {

// A director for tests: gives back `says`, and keeps what it was shown.
class TestDirector final : public Director {
 public:
  explicit TestDirector(Mode mode) : says(std::move(mode)) {}
  void on_iteration(const IterationSample& sample) override { iterations.push_back(sample); }
  void on_update(const UpdateSample& sample) override { updates.push_back(sample); }
  void on_evaluation(const EvaluationSample& sample) override { evaluations.push_back(sample); }
  Mode direct(const Situation& situation) override {
    under_way.assign(situation.under_way.begin(), situation.under_way.end());
    return says;
  }

  Mode says;
  std::vector<TaskUnderWay> under_way{};  // when it was asked last
  std::vector<IterationSample> iterations{};
  std::vector<UpdateSample> updates{};
  std::vector<EvaluationSample> evaluations{};
};

class FixedDirector final : public Director {
 public:
  explicit FixedDirector(Mode mode) : mode_(std::move(mode)) {}
  Mode direct(const Situation&) override { return mode_; }

 private:
  const Mode mode_;
};

}  // namespace orrery
