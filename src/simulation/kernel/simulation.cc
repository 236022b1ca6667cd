#include "simulation/kernel/simulation.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <optional>

#include "base/invariant.h"
#include "scheduling/policy/published/published.h"
#include "scheduling/scheduler/scheduler.h"
#include "simulation/kernel/machines.h"
#include "simulation/worlds/elasticflow_cost.h"

namespace orrery {
namespace {

// In the published simulator each scheduler has an event loop of its own; they agree but for this.
MuriEnds muri_ends_of(std::string_view policy) {
  if (policy == "las") return {.closeness = 0};
  if (policy == "srtf") return {.line = MuriEnds::Line::ByRemaining};
  if (policy == "srsf") return {.line = MuriEnds::Line::ByService};
  if (policy == "antman") return {.line = MuriEnds::Line::ByClass};
  return {.line = MuriEnds::Line::ByGpus};
}

// Likewise that of ElasticFlow.
ElasticFlowRules elasticflow_rules_of(const SimulationSetup& setup) {
  if (setup.policy == "edf") return {.ends_as_planned = true, .charged = false};
  if (setup.policy == "edf-admission") {
    return {.ends_as_planned = true, .ends_while_paused = true};
  }
  const auto said = [&](const char* key, std::string_view value) {
    const auto option = setup.options.find(key);
    return option != setup.options.end() && option->second == value;
  };
  const bool released = setup.policy == "elasticflow" && said("scale-up", "reference");
  return {.ends_as_planned = released, .judged_by_plan = released && !said("admission", "none")};
}

std::optional<RigidRules> rigid_rules_of(std::string_view policy) {
  using Rounds = RigidRules::Rounds;
  using Charged = RigidRules::Charged;
  if (policy == "las") return RigidRules{Rounds::AtEvents, Charged::Starts};
  if (policy == "gandiva") return RigidRules{Rounds::AtArrivals, Charged::Rounds};
  if (policy == "themis") return RigidRules{Rounds::EverySlot, Charged::Nobody, true};
  return {};
}

// Its replay of jobs that are all there at the start begins after a second. What the optimum gives
// a job is neither all nor the fair share.
SynergyRules synergy_rules_of(const SimulationSetup& setup) {
  SynergyRules rules{.round = setup.round};
  // A value that cannot be read was refused when the policy was made.
  const Options options(allocator_options(), {}, setup.options);
  const auto at_start = options.flag("static");
  if (at_start.ok() && at_start.value()) rules.first_round = Time(std::chrono::seconds(1));
  const std::string_view allocator = parse_policy_name(setup.policy).allocator;
  rules.by_matrix = allocator == "opt" || allocator == "tune+";
  return rules;
}

std::unique_ptr<Semantics> make_semantics(const SimulationSetup& setup) {
  if (setup.semantics == SemanticsKind::Orrery) {
    return make_orrery_semantics(setup.workload->jobs.size());
  }
  if (setup.semantics == SemanticsKind::Muri) {
    return make_muri_semantics(*setup.workload, muri_ends_of(setup.policy));
  }
  if (setup.semantics == SemanticsKind::Synergy) {
    return make_synergy_semantics(*setup.workload, *setup.cluster, synergy_rules_of(setup));
  }
  if (const auto rules = rigid_rules_of(setup.policy)) {
    return make_rigid_semantics(*setup.workload, *setup.cluster, setup.round, *rules);
  }
  return make_elasticflow_semantics(*setup.workload, *setup.cluster, setup.round,
                                    elasticflow_rules_of(setup));
}

// The published ablation without matching ran with another factor for groups of four.
ContentionModel contention_of(const SimulationSetup& setup) {
  const auto matching = setup.options.find("matching");
  const bool ablation = setup.semantics == SemanticsKind::Muri && matching != setup.options.end() &&
                        matching->second == "none";
  if (!ablation) return {};
  return ContentionModel({1, 1.33 / 1.015, 1.5 / 1.015, 1.3 / 1.015});
}

// Times for an iteration as that simulator has them, to the last bit: from milliseconds, with the
// overhead of a single job.
Workload as_published(const Workload& workload) {
  Workload published = workload;
  for (JobSpec& spec : published.jobs) {
    const double exact_ms = spec.iteration_s * 1000;
    const double whole_ms = std::round(exact_ms);
    const double ms = std::abs(exact_ms - whole_ms) < 1e-9 ? whole_ms : exact_ms;
    spec.iteration_s = ms * 1.015 / 1000;
  }
  return published;
}

// A job that pays for a round more than a slot has would never come to its end.
Status check_slot(const SimulationSetup& setup) {
  if (setup.semantics != SemanticsKind::ElasticFlow || setup.round == Duration::zero()) return {};
  int widest = 1;
  for (const JobSpec& spec : setup.workload->jobs) widest = std::max(widest, spec.gpus);
  widest = std::min(widest, std::max(1, setup.cluster->gpus_total()));
  const double cost_s = RoundCost(*setup.cluster, setup.round).start_s(widest);
  if (seconds(setup.round) > cost_s) return {};
  return invalid(fmt::format(
      "a round every {:g} s: with the semantics of elasticflow a round costs a job up to "
      "{:.0f} s; hold them further apart, e.g. every 60 s",
      seconds(setup.round), cost_s));
}

const PublishedWorld* published_world_of(SemanticsKind kind) {
  if (kind == SemanticsKind::Muri) return &muri_world();
  if (kind == SemanticsKind::ElasticFlow) return &elasticflow_world();
  return kind == SemanticsKind::Synergy ? &synergy_world() : nullptr;
}

std::optional<ExecutionCost> cost_of(const SimulationSetup& setup) {
  if (setup.semantics != SemanticsKind::ElasticFlow) return {};
  return RoundCost(*setup.cluster, setup.round).expected();
}

Result<PolicySetup> set_up_policy(const SimulationSetup& setup) {
  return make_policy(setup.policy, setup.options,
                     {.workload = *setup.workload,
                      .published = published_world_of(setup.semantics),
                      .seed = setup.seed,
                      .round = setup.round,
                      .cost = cost_of(setup),
                      .contention = contention_of(setup)});
}

class Simulation {
 public:
  Simulation(const SimulationSetup& setup, PolicySetup& policy, EventSink& sink)
      : setup_(setup),
        jobs_(setup.workload->jobs),
        semantics_(make_semantics(setup)),
        machines_(*setup.workload, *semantics_, contention_of(setup), policy.policy->trainer()),
        packer_(*setup.cluster, setup.workload->names, std::move(policy.rule)),
        scheduler_({*setup.workload, *setup.cluster, *policy.policy, packer_, machines_, sink,
                    semantics_.get()}) {
    machines_.report_to(scheduler_);
    if (setup.speed_error > 0) machines_.err_in_speeds(setup.speed_error, setup.seed);
  }

  SimulationOutcome run() {
    std::size_t next = 0;  // the first job that has not been submitted
    Time wake = kNever;    // when the policy asked for a round
    Time round = kNever;   // when a round is due that was put off
    const Time last_arrival = jobs_.empty() ? kNever : jobs_.back().submitted;
    while (!done(next)) {
      const Time arrival = next < jobs_.size() ? jobs_[next].submitted : kNever;
      const Time end = semantics_->next_end();
      Time now = std::min({arrival, end, wake, round});
      if (now == kNever) break;
      if (arrival != kNever && end != kNever && arrival <= std::min(wake, round) &&
          std::chrono::abs(arrival - end) <= semantics_->coincidence()) {
        now = arrival;
      }
      now = semantics_->round_at(
          now, {.arrival = arrival, .last_arrival = last_arrival, .end = end, .wake = wake});
      machines_.set_time(now);
      ended_.clear();
      semantics_->advance(now, ended_);
      for (const Semantics::Ended& job : ended_) {
        machines_.leave(job.job);
        scheduler_.ended(job.job, EventKind::Completed, job.work_left, job.at, job.finished);
      }
      note_ended();
      for (; next < jobs_.size() && jobs_[next].submitted <= now; ++next) {
        scheduler_.submit(jobs_[next], now);
      }
      if (window_is_done(next)) break;
      if (wake <= now) wake = kNever;
      round = next_round(now);
      if (round == now) {
        wake = scheduler_.hold_round(now);
        ++rounds_;
        round = kNever;
      }
      machines_.settle();
      semantics_->round_held();
    }
    const State& state = scheduler_.state();
    const auto open = state.waiting() + static_cast<std::int64_t>(state.running().size());
    return {.events = scheduler_.events(),
            .rounds = rounds_,
            .unfinished = open + static_cast<std::int64_t>(jobs_.size() - next),
            .interrupted = cancelled() && !ended(next)};
  }

 private:
  bool cancelled() const {
    return setup_.cancel != nullptr && setup_.cancel->load(std::memory_order_relaxed);
  }

  bool done(std::size_t next) { return cancelled() || ended(next); }

  bool ended(std::size_t next) {
    const State& state = scheduler_.state();
    if (window_is_done(next)) return true;
    return next == jobs_.size() && state.running().empty() && state.waiting() == 0;
  }

  bool window_is_done(std::size_t next) {
    if (setup_.stop_after_end == kNoJob) return false;
    const auto jobs = scheduler_.state().jobs();
    while (open_ < index(setup_.stop_after_end) && open_ < next && is_final(jobs[open_].state)) {
      ++open_;
    }
    return open_ >= index(setup_.stop_after_end);
  }

  Time next_round(Time now) const {
    const bool own_rounds = setup_.semantics == SemanticsKind::ElasticFlow ||
                            setup_.semantics == SemanticsKind::Synergy;
    if (setup_.round == Duration::zero() || own_rounds) return now;
    const Duration since = now.time_since_epoch();
    return Time((since + setup_.round - Duration(1)) / setup_.round * setup_.round);
  }

  void note_ended() {
    if (setup_.ended != nullptr) {
      setup_.ended->fetch_add(static_cast<std::int64_t>(ended_.size()), std::memory_order_relaxed);
    }
  }

  const SimulationSetup& setup_;
  const std::deque<JobSpec>& jobs_;
  std::unique_ptr<Semantics> semantics_;
  Machines machines_;
  Packer packer_;
  Scheduler scheduler_;
  std::vector<Semantics::Ended> ended_;
  std::int64_t rounds_ = 0;
  // The first job of the window that has not come to an end.
  std::size_t open_ = setup_.stop_after_begin == kNoJob ? 0 : index(setup_.stop_after_begin);
};

}  // namespace

Status check(const SimulationSetup& setup) {
  TRY(check_slot(setup));
  const auto policy = set_up_policy(setup);
  return policy.ok() ? Status() : policy.error();
}

Result<SimulationOutcome> simulate(const SimulationSetup& setup, EventSink& sink) {
  SimulationSetup world = setup;
  if (setup.round == Duration::zero()) {
    if (setup.semantics == SemanticsKind::ElasticFlow) world.round = std::chrono::minutes(1);
    if (setup.semantics == SemanticsKind::Synergy) world.round = std::chrono::minutes(5);
  }
  Workload published;
  if (setup.semantics == SemanticsKind::Muri && !setup.from_log) {
    published = as_published(*setup.workload);
    world.workload = &published;
  }
  TRY(check_slot(world));
  TRY_ASSIGN(PolicySetup policy, set_up_policy(world));
  Simulation simulation(world, policy, sink);
  return simulation.run();
}

}  // namespace orrery
