#include "simulation/kernel/simulation.h"

#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <utility>

#include "base/invariant.h"
#include "scheduling/scheduler/scheduler.h"
#include "simulation/kernel/machines.h"
#include "simulation/kernel/node_line.h"
#include "simulation/worlds/world.h"

namespace orrery {
namespace {

const World& world_of(SemanticsKind kind) { return worlds()[static_cast<std::size_t>(kind)]; }

Status check_faults(const SimulationSetup& setup) {
  INVARIANT(setup.run.faults || setup.node_changes.empty(), "a run whose nodes change has rules");
  if (!setup.run.faults || setup.run.semantics == SemanticsKind::Orrery) return {};
  return invalid(fmt::format(
      "nodes do not come and go with --semantics {}: the published simulator knows no faults; use "
      "--semantics orrery",
      to_string(setup.run.semantics)));
}

Status check_round(const SimulationSetup& setup) {
  const World& world = world_of(setup.run.semantics);
  if (world.check_round == nullptr) return {};
  return world.check_round(*setup.workload, *setup.cluster, setup.run.policy.round);
}

Result<PolicySetup> set_up_policy(const SimulationSetup& setup, ReleasedClock* clock) {
  const World& world = world_of(setup.run.semantics);
  PolicyContext context{.workload = *setup.workload,
                        .policy = setup.run.policy,
                        .published = world.published,
                        .clock = world.published == nullptr ? nullptr : clock};
  if (world.cost != nullptr) context.cost = world.cost(*setup.cluster, setup.run.policy.round);
  return make_policy(context);
}

class Simulation {
 public:
  Simulation(const SimulationSetup& setup, PolicySetup& policy, ReleasedClock& clock,
             EventSink& sink)
      : setup_(setup),
        jobs_(setup.workload->jobs),
        world_(world_of(setup.run.semantics)),
        semantics_(world_.make({.workload = *setup.workload,
                                .cluster = *setup.cluster,
                                .round = setup.run.policy.round,
                                .loop = policy.loop,
                                .clock = clock})),
        machines_(*setup.workload, *semantics_, semantics_->contention(), policy.policy->trainer()),
        policy_(policy),
        clock_(clock),
        nodes_(*setup.cluster, setup.node_changes),
        packer_(make_packer()),
        scheduler_({.workload = *setup.workload,
                    .cluster = nodes_.cluster(),
                    .policy = *policy.policy,
                    .packer = *packer_,
                    .executor = machines_,
                    .sink = sink,
                    .progress = semantics_.get(),
                    .forgets_ended = setup.node_changes.empty()}) {
    machines_.report_to(scheduler_);
    if (setup.run.faults) machines_.save_work(*setup.run.faults);
    if (setup.run.speed_error > 0) {
      machines_.err_in_speeds(setup.run.speed_error, setup.run.policy.seed);
    }
  }

  SimulationOutcome run() {
    std::size_t next = 0;  // the first job that has not been submitted
    Time wake = kNever;    // when the policy asked for a round
    Time round = kNever;   // when a round is due that was put off
    const Time last_arrival = jobs_.empty() ? kNever : jobs_.back().submitted;
    while (!done(next)) {
      const Time arrival = next < jobs_.size() ? jobs_[next].submitted : kNever;
      const Time end = semantics_->next_end();
      Time now = std::min({arrival, end, wake, round, nodes_.next()});
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
      if (nodes_.next() <= now) {
        change_nodes(now);
        wake = kNever;
      }
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
    if (!setup_.run.window) return false;
    const auto jobs = scheduler_.state().jobs();
    while (open_ < index(setup_.run.window->end) && open_ < next && is_final(jobs[open_].state)) {
      ++open_;
    }
    return open_ >= index(setup_.run.window->end);
  }

  std::unique_ptr<Packer> make_packer() {
    return std::make_unique<Packer>(nodes_.cluster(), setup_.workload->names,
                                    std::move(policy_.rule));
  }

  // A fresh policy takes over on the nodes that are left, as on a live cluster.
  void change_nodes(Time now) {
    nodes_.change(now, scheduler_, machines_);
    auto fresh = set_up_policy(setup_, &clock_);
    INVARIANT(fresh.ok(), "the policy was made before with the same options");
    PolicySetup before = std::exchange(policy_, std::move(fresh).value());
    std::unique_ptr<Packer> packer = make_packer();
    machines_.set_trainer(policy_.policy->trainer());
    scheduler_.take_over(*policy_.policy, *packer, nodes_.cluster());
    packer_ = std::move(packer);
  }

  Time next_round(Time now) const {
    const Duration round = setup_.run.policy.round;
    if (round == Duration::zero() || world_.own_rounds) return now;
    const Duration since = now.time_since_epoch();
    return Time((since + round - Duration(1)) / round * round);
  }

  void note_ended() {
    if (setup_.ended != nullptr) {
      setup_.ended->fetch_add(static_cast<std::int64_t>(ended_.size()), std::memory_order_relaxed);
    }
  }

  const SimulationSetup& setup_;
  const std::deque<JobSpec>& jobs_;
  const World& world_;
  std::unique_ptr<Semantics> semantics_;
  Machines machines_;
  PolicySetup& policy_;
  ReleasedClock& clock_;
  NodeLine nodes_;
  std::unique_ptr<Packer> packer_;
  Scheduler scheduler_;
  std::vector<Semantics::Ended> ended_;
  std::int64_t rounds_ = 0;
  // The first job of the window that has not come to an end.
  std::size_t open_ = setup_.run.window ? index(setup_.run.window->first) : 0;
};

}  // namespace

Status check(const SimulationSetup& setup) {
  TRY(check_faults(setup));
  TRY(check_round(setup));
  const auto policy = set_up_policy(setup, nullptr);
  return policy.ok() ? Status() : policy.error();
}

Result<SimulationOutcome> simulate(const SimulationSetup& setup, EventSink& sink) {
  TRY(check_faults(setup));
  const World& world = world_of(setup.run.semantics);
  SimulationSetup made = setup;
  if (made.run.policy.round == Duration::zero()) made.run.policy.round = world.round;
  Workload converted;
  if (world.converted != nullptr && !setup.from_log) {
    converted = world.converted(*setup.workload);
    made.workload = &converted;
  }
  TRY(check_round(made));
  ReleasedClock clock(world.published == nullptr ? 0 : setup.workload->jobs.size());
  TRY_ASSIGN(PolicySetup policy, set_up_policy(made, &clock));
  Simulation simulation(made, policy, clock, sink);
  return simulation.run();
}

}  // namespace orrery
