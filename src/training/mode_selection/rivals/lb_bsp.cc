#include "training/mode_selection/rivals/lb_bsp.h"

#include <algorithm>
#include <cmath>

#include "training/mode_selection/rivals/fixed.h"
#include "training/mode_selection/round_director.h"

namespace orrery {
namespace {

class LbBsp final : public RoundDirector {
 public:
  LbBsp(const LbBspOptions& options, std::unique_ptr<IterationPredictor> predictor)
      : RoundDirector({.every_rounds = options.every_rounds, .tasks_least = options.tasks_least}),
        options_(options),
        predictor_(predictor ? std::move(predictor) : make_ewma_predictor()) {}

 private:
  void begin(const Situation& situation) override {
    batches_.assign(workers_.size(), situation.global_batch / static_cast<double>(workers_.size()));
  }

  void look(const Situation& situation) override {
    std::vector<TaskCost> costs;
    for (const WorkerRecord& record : records()) {
      const std::vector<double> predicted = predictor_->predict(record.history, 1);
      TaskCost cost = record.cost;
      if (!predicted.empty() && !options_.fixed_parts) cost = {.per_sample_s = predicted[0]};
      costs.push_back(cost);
    }
    const double all = situation.global_batch;
    const double equal = all / static_cast<double>(costs.size());
    const std::vector<double> wanted =
        balanced_batches(costs, all, {.least = options_.batch_least}, options_.fixed_parts);
    double furthest = 0;
    for (std::size_t i = 0; i < wanted.size(); ++i) {
      furthest = std::max(furthest, std::abs(wanted[i] - batches_[i]));
    }
    if (furthest < options_.change_least * equal) return;
    // The limits of each first; then all alike by a factor, which moves no batch by much.
    double sum = 0;
    for (std::size_t i = 0; i < wanted.size(); ++i) {
      const double step = options_.step_most * equal;
      batches_[i] = std::clamp(std::clamp(wanted[i], batches_[i] - step, batches_[i] + step),
                               options_.batch_least, options_.batch_most * equal);
      sum += batches_[i];
    }
    mode_ = synchronous_mode(situation.architecture);
    for (std::size_t i = 0; i < wanted.size(); ++i) {
      batches_[i] *= all / sum;
      mode_.shares.emplace_back(workers_[i], batches_[i] / all);
    }
  }

  LbBspOptions options_;
  std::unique_ptr<IterationPredictor> predictor_;
  std::vector<double> batches_;  // beside workers_
};

}  // namespace

std::unique_ptr<Director> make_lb_bsp_director(const LbBspOptions& options,
                                               std::unique_ptr<IterationPredictor> predictor) {
  return std::make_unique<LbBsp>(options, std::move(predictor));
}

}  // namespace orrery
