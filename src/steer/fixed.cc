#include "steer/fixed.h"

#include <algorithm>
#include <functional>
#include <utility>

#include "steer/round_director.h"
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
class Regrouping final : public RoundDirector {
 public:
  using Wanted = std::function<Mode(const ScoreSituation&)>;
  Regrouping(const RegroupingOptions& options, Wanted wanted)
      : RoundDirector({.every_rounds = options.every_rounds, .tasks_least = options.tasks_least}),
        options_(options),
        wanted_(std::move(wanted)) {}

 private:
  void begin(const Situation&) override {
    next_ = mode_;
    votes_ = 0;
  }

  void look(const Situation& situation) override {
    std::vector<ScoreWorker> workers;
    for (const WorkerRecord& record : records()) {
      workers.push_back(
          {.worker = record.history.worker, .cost = record.cost, .way_s = record.way_s});
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
  Mode next_{};
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
