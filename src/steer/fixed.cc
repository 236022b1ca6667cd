#include "steer/fixed.h"

#include <algorithm>
#include <functional>
#include <utility>

#include "steer/iteration_book.h"
#include "steer/score.h"
#include "steer/staleness_cost.h"

namespace orrery {
namespace {

class Fixed final : public Director {
 public:
  explicit Fixed(Mode mode) : mode_(std::move(mode)) {}
  Mode direct(const Situation&) override { return mode_; }

 private:
  Mode mode_;
};

// Looks at everybody's times now and then and takes the mode that they speak for, when they have
// done so often enough.
class Regrouping final : public Director {
 public:
  using Wanted = std::function<Mode(const ScoreSituation&)>;
  Regrouping(const RegroupingOptions& options, Wanted wanted)
      : options_(options), wanted_(std::move(wanted)) {}

  void saw(const IterationSample& sample) override { book_.saw(sample); }

  Mode direct(const Situation& situation) override {
    if (!std::ranges::equal(workers_, situation.workers)) {
      workers_.assign(situation.workers.begin(), situation.workers.end());
      book_.keep_only(workers_);
      mode_ = next_ = synchronous_mode(situation.architecture);
      looked_at_ = situation.samples_done;
      votes_ = 0;
    }
    const std::int64_t rounds = (situation.samples_done - looked_at_) / situation.global_batch;
    if (rounds >= options_.every_rounds && everybody_is_known()) {
      looked_at_ = situation.samples_done;
      look(situation);
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

  void look(const Situation& situation) {
    std::vector<ScoreWorker> workers;
    for (const WorkerRecord& record : book_.records()) {
      workers.push_back({.worker = record.history.worker, .cost = record.cost});
    }
    const Mode wanted = wanted_({.architecture = situation.architecture,
                                 .workers = workers,
                                 .global_batch = static_cast<double>(situation.global_batch),
                                 .batch_least = options_.batch_least,
                                 .blocks = options_.blocks,
                                 .lambda = kStalenessCostPrior});
    votes_ = wanted == next_ ? votes_ + 1 : 1;
    next_ = wanted;
    if (votes_ >= options_.patience) mode_ = next_;
  }

  RegroupingOptions options_;
  Wanted wanted_;
  IterationBook book_;
  std::vector<WorkerId> workers_;
  Mode mode_{}, next_{};
  std::int64_t looked_at_ = 0;
  int votes_ = 0;
};

Mode grouped(const ScoreSituation& situation) {
  std::vector<std::vector<WorkerId>> groups = similar_groups(situation);
  if (groups.size() < 2) return synchronous_mode(situation.architecture);
  if (situation.architecture == Architecture::AllReduce) {
    return {.rule = SyncRuleKind::Ring, .ring = std::move(groups.front())};
  }
  return {.rule = SyncRuleKind::Dynamic, .groups = std::move(groups)};
}

Mode best_lgc(const ScoreSituation& situation) {
  const int n = static_cast<int>(situation.workers.size());
  ScoredMode best;
  for (int k = 1; k <= n; ++k) {
    ScoredMode scored = score_mode(situation, {.rule = SyncRuleKind::Lgc, .x = k});
    if (k == 1 || scored.time_s < best.time_s) best = std::move(scored);
  }
  return best.mode;
}

}  // namespace

Mode synchronous_mode(Architecture architecture) {
  return architecture == Architecture::AllReduce ? Mode{.rule = SyncRuleKind::Ring} : Mode{};
}

std::unique_ptr<Director> make_fixed_director(Mode mode) {
  return std::make_unique<Fixed>(std::move(mode));
}
std::unique_ptr<Director> make_dynamic_director(const RegroupingOptions& options) {
  return std::make_unique<Regrouping>(options, grouped);
}
std::unique_ptr<Director> make_ring_director(int size, const RegroupingOptions& options) {
  return std::make_unique<Regrouping>(options, [size](const ScoreSituation& situation) {
    return size >= static_cast<int>(situation.workers.size())
               ? synchronous_mode(Architecture::AllReduce)
               : ring_of_fastest(situation, size);
  });
}
std::unique_ptr<Director> make_lgc_director(const RegroupingOptions& options) {
  return std::make_unique<Regrouping>(options, best_lgc);
}

}  // namespace orrery
