#include "sim/simulation.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/invariant.h"
#include "control/scheduler.h"
#include "policy/registry.h"
#include "sim/machines.h"

namespace orrery {
namespace {

constexpr std::array<std::string_view, 2> kNames = {"orrery", "muri"};

std::unique_ptr<Semantics> make_semantics(SemanticsKind kind, std::size_t jobs) {
  return kind == SemanticsKind::Muri ? make_muri_semantics(jobs) : make_orrery_semantics(jobs);
}

// The published ablation without matching ran with another factor for groups of four.
ContentionModel contention_of(const SimulationSetup& setup) {
  const auto matching = setup.options.find("matching");
  const bool published_ablation = setup.semantics == SemanticsKind::Muri &&
                                  matching != setup.options.end() && matching->second == "none";
  if (!published_ablation) return {};
  return ContentionModel({1.015, 1.33 / 1.015, 1.5 / 1.015, 1.3 / 1.015});
}

class Simulation {
 public:
  Simulation(const SimulationSetup& setup, PolicySetup& policy, EventSink& sink)
      : setup_(setup),
        jobs_(setup.workload->jobs),
        semantics_(make_semantics(setup.semantics, jobs_.size())),
        machines_(*setup.workload, *setup.cluster, *semantics_, contention_of(setup)),
        packer_(*setup.cluster, setup.workload->names, std::move(policy.rule)),
        scheduler_({*setup.workload, *setup.cluster, *policy.policy, packer_, machines_, sink}) {
    machines_.report_to(scheduler_);
  }

  SimulationOutcome run() {
    std::size_t next = 0;  // the first job that has not been submitted
    Time wake = kNever;
    while (!done(next)) {
      const Time arrival = next < jobs_.size() ? jobs_[next].submitted : kNever;
      const Time end = semantics_->next_end();
      Time now = std::min({arrival, end, wake});
      if (now == kNever) break;
      if (arrival != kNever && end != kNever && arrival <= wake &&
          std::chrono::abs(arrival - end) <= semantics_->coincidence()) {
        now = arrival;
      }
      machines_.set_time(now);
      ended_.clear();
      semantics_->advance(now, ended_);
      for (const JobId job : ended_) {
        machines_.leave(job);
        scheduler_.ended(job, EventKind::Completed, 0, now);
      }
      note_ended();
      for (; next < jobs_.size() && jobs_[next].submitted <= now; ++next) {
        scheduler_.submit(jobs_[next], now);
      }
      wake = scheduler_.hold_round(now);
      machines_.settle();
    }
    const State& state = scheduler_.state();
    const auto open = state.waiting() + static_cast<std::int64_t>(state.running().size());
    return {.events = scheduler_.events(),
            .unfinished = open + static_cast<std::int64_t>(jobs_.size() - next)};
  }

 private:
  bool done(std::size_t next) {
    if (setup_.cancel != nullptr && setup_.cancel->load(std::memory_order_relaxed)) return true;
    if (setup_.stop_after_end != kNoJob && window_open_ == 0) return true;
    const State& state = scheduler_.state();
    return next == jobs_.size() && state.running().empty() && state.waiting() == 0;
  }

  void note_ended() {
    if (setup_.ended != nullptr) {
      setup_.ended->fetch_add(static_cast<std::int64_t>(ended_.size()), std::memory_order_relaxed);
    }
    for (const JobId job : ended_) {
      if (job >= setup_.stop_after_begin && job < setup_.stop_after_end) --window_open_;
    }
  }

  const SimulationSetup& setup_;
  const std::vector<JobSpec>& jobs_;
  std::unique_ptr<Semantics> semantics_;
  Machines machines_;
  Packer packer_;
  Scheduler scheduler_;
  std::vector<JobId> ended_;
  std::int64_t window_open_ = static_cast<std::int64_t>(setup_.stop_after_end) -
                              static_cast<std::int64_t>(setup_.stop_after_begin);
};

}  // namespace

Result<SemanticsKind> parse_semantics(std::string_view name) {
  const auto found = std::ranges::find(kNames, name);
  if (found != kNames.end()) return static_cast<SemanticsKind>(found - kNames.begin());
  return invalid(fmt::format("there are no semantics '{}'; choose orrery or muri", name));
}

std::string_view to_string(SemanticsKind kind) { return kNames[static_cast<std::size_t>(kind)]; }

Result<SimulationOutcome> simulate(const SimulationSetup& setup, EventSink& sink) {
  const auto defaults =
      setup.semantics == SemanticsKind::Orrery ? Defaults::Ours : Defaults::Published;
  TRY_ASSIGN(PolicySetup policy, make_policy(setup.policy, setup.options,
                                             {.workload = *setup.workload,
                                              .defaults = defaults,
                                              .seed = setup.seed,
                                              .contention = contention_of(setup)}));
  Simulation simulation(setup, policy, sink);
  return simulation.run();
}

}  // namespace orrery
