#include "training/mode_selection/rivals/fixed.h"

#include <algorithm>
#include <functional>
#include <span>
#include <utility>

#include "training/mode_selection/round_director.h"
#include "training/mode_selection/scoring/score.h"
#include "training/mode_selection/scoring/staleness_cost.h"

namespace orrery {
namespace {

class Fixed final : public Director {
 public:
  explicit Fixed(Mode mode) : mode_(std::move(mode)) {}
  Mode direct(const Situation&) override { return mode_; }

 private:
  Mode mode_;
};

std::vector<ScoreWorker> costs_of(std::span<const WorkerRecord> records) {
  std::vector<ScoreWorker> workers;
  for (const WorkerRecord& record : records) {
    workers.push_back(
        {.worker = record.history.worker, .cost = record.cost, .way_s = record.way_s});
  }
  return workers;
}

// Looks at all workers' times now and then and takes the mode that they speak for, when they have
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
    const std::vector<ScoreWorker> workers = costs_of(records());
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

// The fastest as the ring. Where all are alike, which they are is chance, so the first ring is
// taken as it comes, and another only when a member is far slower than it need be.
class RingOfFastest final : public RoundDirector {
 public:
  RingOfFastest(int size, const RegroupingOptions& options)
      : RoundDirector({.every_rounds = options.every_rounds, .tasks_least = options.tasks_least}),
        size_(static_cast<std::size_t>(size)),
        patience_(options.patience) {}

 private:
  void begin(const Situation&) override { against_ = 0; }

  void look(const Situation& situation) override {
    if (size_ >= workers_.size()) return;
    const std::vector<ScoreWorker> workers = costs_of(records());
    const ScoreSituation asked{.architecture = situation.architecture,
                               .workers = workers,
                               .global_batch = static_cast<double>(situation.global_batch)};
    Mode wanted = ring_of_fastest(asked, static_cast<int>(size_));
    const bool formed = mode_.ring.size() == size_;
    const bool far_slower = formed && is_far_slower_ring(asked, mode_.ring, wanted.ring);
    against_ = far_slower ? against_ + 1 : 0;
    if (formed && against_ < patience_) return;
    mode_ = std::move(wanted);
    against_ = 0;
  }

  std::size_t size_;
  int patience_, against_ = 0;
};

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
std::unique_ptr<Director> make_ring_director(int size, const RegroupingOptions& options) {
  return std::make_unique<RingOfFastest>(size, options);
}
std::unique_ptr<Director> make_lgc_director(const RegroupingOptions& options) {
  return std::make_unique<Regrouping>(options, best_lgc);
}

}  // namespace orrery
