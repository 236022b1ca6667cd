#include "steer/lb_bsp.h"

#include <algorithm>
#include <cmath>

#include "steer/fixed.h"
#include "steer/iteration_book.h"

namespace orrery {
namespace {

class LbBsp final : public Director {
 public:
  LbBsp(const LbBspOptions& options, std::unique_ptr<IterationPredictor> predictor)
      : options_(options), predictor_(predictor ? std::move(predictor) : make_ewma_predictor()) {}

  void saw(const IterationSample& sample) override { book_.saw(sample); }

  Mode direct(const Situation& situation) override {
    if (!std::ranges::equal(workers_, situation.workers)) {
      workers_.assign(situation.workers.begin(), situation.workers.end());
      book_.keep_only(workers_);
      const double equal = situation.global_batch / static_cast<double>(workers_.size());
      batches_.assign(workers_.size(), equal);
      changed_at_ = situation.samples_done;
      mode_ = synchronous_mode(situation.architecture);
    }
    const std::int64_t rounds = (situation.samples_done - changed_at_) / situation.global_batch;
    if (rounds >= options_.every_rounds && everybody_is_known()) {
      changed_at_ = situation.samples_done;
      balance(situation);
    }
    return mode_;
  }

 private:
  bool everybody_is_known() const {
    return book_.records().size() == workers_.size() &&
           std::ranges::all_of(book_.records(), [this](const WorkerRecord& record) {
             return record.tasks >= options_.tasks_least;
           });
  }

  void balance(const Situation& situation) {
    std::vector<TaskCost> costs;
    for (const WorkerRecord& record : book_.records()) {
      const std::vector<double> foreseen = predictor_->foresee(record.history, 1);
      TaskCost cost = record.cost;
      if (!foreseen.empty() && !options_.fixed_parts) cost = {.per_sample_s = foreseen[0]};
      costs.push_back(cost);
    }
    const double all = situation.global_batch;
    const double equal = all / static_cast<double>(costs.size());
    const std::vector<double> wanted =
        balanced_batches(costs, all, options_.batch_least, options_.fixed_parts);
    double furthest = 0;
    for (std::size_t i = 0; i < wanted.size(); ++i) {
      furthest = std::max(furthest, std::abs(wanted[i] - batches_[i]));
    }
    if (furthest < options_.change_least * equal) return;
    // The limits of each first; then all alike by a factor, which moves nobody by much.
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
  IterationBook book_;
  std::vector<WorkerId> workers_;
  std::vector<double> batches_;  // beside workers_
  std::int64_t changed_at_ = 0;
  Mode mode_{};
};

}  // namespace

std::unique_ptr<Director> make_lb_bsp_director(const LbBspOptions& options,
                                               std::unique_ptr<IterationPredictor> predictor) {
  return std::make_unique<LbBsp>(options, std::move(predictor));
}

}  // namespace orrery
