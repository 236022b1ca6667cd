#include "training/mode_selection/rivals/sync_switch.h"

#include <algorithm>
#include <iterator>

#include "training/mode_selection/rivals/fixed.h"
#include "training/mode_selection/stragglers/iteration_book.h"

namespace orrery {
namespace {

class SyncSwitch final : public Director {
 public:
  explicit SyncSwitch(const SyncSwitchOptions& options)
      : options_(options), watch_(options.straggler) {}

  void on_iteration(const IterationSample& sample) override {
    book_.add(sample);
    fresh_ = true;
  }

  Mode direct(const Situation& situation) override {
    const double bsp_samples = options_.bsp_part * static_cast<double>(options_.samples_limit);
    if (static_cast<double>(situation.samples_done) >= bsp_samples) return asynchronous(situation);
    if (options_.stragglers == StragglerRule::None) return synchronous_mode(situation.architecture);
    look(situation);
    if (watch_.stragglers().empty()) return synchronous_mode(situation.architecture);
    return options_.stragglers == StragglerRule::Greedy ? asynchronous(situation)
                                                        : without_stragglers(situation);
  }

 private:
  // Looks are taken when something was seen since; a look at every tick would count one iteration
  // many times.
  void look(const Situation& situation) {
    if (!fresh_) return;
    fresh_ = false;
    book_.keep_only(situation.workers);
    const double batch = situation.global_batch /
                         static_cast<double>(std::max<std::size_t>(1, situation.workers.size()));
    std::vector<WorkerTime> times;
    for (const WorkerRecord& record : book_.records()) {
      const double each = record.cost.at(batch);
      times.push_back({record.history.worker, each, record.noise * each});
    }
    watch_.look(times);
  }

  Mode asynchronous(const Situation& situation) const {
    if (situation.architecture == Architecture::ParameterServers) return {.x = 1};
    return {.rule = SyncRuleKind::Ring, .ring = {situation.workers.front()}};
  }

  Mode without_stragglers(const Situation& situation) const {
    std::vector<WorkerId> group;
    std::ranges::copy_if(situation.workers, std::back_inserter(group),
                         [this](WorkerId worker) { return !watch_.straggles(worker); });
    if (situation.architecture == Architecture::AllReduce) {
      return {.rule = SyncRuleKind::Ring, .ring = std::move(group)};
    }
    return {.rule = SyncRuleKind::Dynamic, .groups = {std::move(group)}};
  }

  SyncSwitchOptions options_;
  IterationBook book_;
  StragglerWatch watch_;
  bool fresh_ = false;
};

}  // namespace

std::unique_ptr<Director> make_sync_switch_director(const SyncSwitchOptions& options) {
  return std::make_unique<SyncSwitch>(options);
}

}  // namespace orrery
