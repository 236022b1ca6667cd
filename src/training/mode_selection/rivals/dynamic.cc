#include <algorithm>
#include <utility>

#include "training/mode_selection/rivals/fixed.h"
#include "training/mode_selection/round_director.h"
#include "training/mode_selection/scoring/score.h"
#include "training/mode_selection/stragglers/straggler.h"

namespace orrery {
namespace {

class DynamicDirector final : public RoundDirector {
 public:
  explicit DynamicDirector(const RegroupingOptions& options)
      : RoundDirector({.every_rounds = options.every_rounds, .tasks_least = options.tasks_least}),
        options_(options) {}

 private:
  void begin(const Situation&) override {
    watch_ = StragglerWatch({.patience = options_.patience});
    grouped_for_.clear();
    torn_ = 0;
  }

  void look(const Situation& situation) override {
    const std::vector<WorkerTime> times = times_of(situation);
    watch_.look(times, true);
    torn_ = any_group_is_torn(times) ? torn_ + 1 : 0;
    const auto stragglers = watch_.stragglers();
    if (std::ranges::equal(stragglers, grouped_for_) && torn_ < options_.patience) return;
    grouped_for_.assign(stragglers.begin(), stragglers.end());
    torn_ = 0;
    mode_ =
        grouped_for_.empty() ? synchronous_mode(situation.architecture) : grouped(situation, times);
  }

  std::vector<WorkerTime> times_of(const Situation& situation) const {
    const double equal =
        static_cast<double>(situation.global_batch) / static_cast<double>(records().size());
    std::vector<WorkerTime> times;
    for (const WorkerRecord& record : records()) {
      const double seconds = record.cost.at(equal);
      times.push_back({.worker = record.history.worker,
                       .seconds = seconds,
                       .noise_s = kNoiseOfMean * record.noise * seconds});
    }
    return times;
  }

  bool any_group_is_torn(const std::vector<WorkerTime>& times) const {
    return std::ranges::any_of(mode_.groups, [&times](const std::vector<WorkerId>& group) {
      return straggler_among(group, times);
    });
  }

  // Ward's groups; those whose members the straggler rule finds alike are put together.
  Mode grouped(const Situation& situation, const std::vector<WorkerTime>& times) const {
    std::vector<ScoreWorker> workers;
    for (const WorkerRecord& record : records()) {
      workers.push_back(
          {.worker = record.history.worker, .cost = record.cost, .way_s = record.way_s});
    }
    std::vector<std::vector<WorkerId>> groups =
        similar_groups({.architecture = situation.architecture,
                        .workers = workers,
                        .global_batch = static_cast<double>(situation.global_batch)});
    for (std::size_t i = 1; i < groups.size();) {
      std::vector<WorkerId> both = groups[i - 1];
      both.insert(both.end(), groups[i].begin(), groups[i].end());
      std::ranges::sort(both);
      if (straggler_among(both, times)) {
        ++i;
        continue;
      }
      groups[i - 1] = std::move(both);
      groups.erase(groups.begin() + static_cast<std::ptrdiff_t>(i));
    }
    if (groups.size() < 2) return synchronous_mode(situation.architecture);
    if (situation.architecture == Architecture::AllReduce) {
      return {.rule = SyncRuleKind::Ring, .ring = std::move(groups.front())};
    }
    return {.rule = SyncRuleKind::Dynamic, .groups = std::move(groups)};
  }

  // True if a member straggles among those that wait for it.
  static bool straggler_among(const std::vector<WorkerId>& group,
                              const std::vector<WorkerTime>& times) {
    const StragglerOptions rule;
    std::vector<WorkerTime> members;
    std::ranges::copy_if(times, std::back_inserter(members), [&group](const WorkerTime& time) {
      return std::ranges::binary_search(group, time.worker);
    });
    return std::ranges::count(surely_slower(members, rule), true) > 0;
  }

  const RegroupingOptions options_;
  StragglerWatch watch_{};
  std::vector<WorkerId> grouped_for_{};  // these straggled when the groups were formed
  int torn_ = 0;                         // looks in a row with a straggler within a group
};

}  // namespace

std::unique_ptr<Director> make_dynamic_director(const RegroupingOptions& options) {
  return std::make_unique<DynamicDirector>(options);
}

}  // namespace orrery
