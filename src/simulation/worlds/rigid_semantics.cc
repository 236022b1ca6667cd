#include <algorithm>
#include <cmath>
#include <utility>

#include "scheduling/prediction/speed_curve.h"
#include "simulation/worlds/elasticflow_cost.h"
#include "simulation/worlds/semantics.h"

namespace orrery {
namespace {

class RigidSemantics final : public Semantics {
 public:
  using Rounds = RigidRules::Rounds;
  using Charged = RigidRules::Charged;

  RigidSemantics(const Workload& workload, const Cluster& cluster, Duration slot,
                 const RigidRules& rules, ReleasedClock& clock)
      : workload_(workload),
        rules_(rules),
        clock_(clock),
        slot_(slot),
        cost_(cluster, slot),
        runs_(workload.jobs.size()) {
    clock.runs = rules.rounds == Rounds::AtEvents;
    for (const JobSpec& spec : workload.jobs) {
      Run& run = runs_[index(spec.id)];
      // Lengths are whole seconds there; what rounding made of one is not to make it longer.
      run.length_s = std::ceil(spec.duration_s() - 1e-6);
      run.iterations_left = spec.iterations;
    }
  }

  void hold(JobId job, double /*work_left*/, Time /*ready*/, const Grant& grant) override {
    Run& run = runs_[index(job)];
    const JobSpec& spec = workload_.jobs[index(job)];
    run.gpus = gpu_count(grant.devices);
    run.speed = speed_on(workload_, spec, run.gpus);
    if (std::exchange(run.holds, true)) return;
    run.fresh = true;
    if (rules_.charged == Charged::Rounds) charge_late(run, spec);
    holders_.push_back(job);
  }

  void pace(JobId /*job*/, double /*iteration_s*/, Duration /*start*/) override {}

  double drop(JobId job) override {
    runs_[index(job)].holds = false;
    std::erase(holders_, job);
    return work_left(job);
  }

  double work_left(JobId job) const override {
    const Run& run = runs_[index(job)];
    if (rules_.counts_iterations) return std::max(0.0, run.iterations_left);
    const double part = run.length_s > 0 ? std::min(1.0, run.done_s / run.length_s) : 1;
    return workload_.jobs[index(job)].iterations * (1 - part);
  }

  // In the other worlds ends are seen in the next slot.
  Time next_end() override {
    if (holders_.empty() || last_round_ == kNever) return kNever;
    return rules_.rounds == Rounds::AtEvents ? next_end_ : last_round_ + slot_;
  }

  Time round_at(Time event, const Upcoming& upcoming) const override {
    if (last_round_ == kNever) return event;
    const Time earliest = last_round_ + slot_;
    if (rules_.rounds == Rounds::EverySlot) {
      const Duration since = std::max(event, earliest) - first_round_;
      return first_round_ + (since + slot_ - Duration(1)) / slot_ * slot_;
    }
    // Arrivals are put off by being merged with one that comes later, which the last cannot be.
    const Time arrival =
        upcoming.is_last_arrival() ? upcoming.arrival : put_off(upcoming.arrival, earliest);
    if (rules_.rounds == Rounds::AtArrivals) return arrival != kNever ? arrival : earliest;
    return std::min({arrival, put_off(upcoming.end, earliest), put_off(upcoming.wake, earliest)});
  }

  void advance(Time now, std::vector<Ended>& ended) override {
    const double passed_s = last_round_ == kNever ? 0 : seconds(now - last_round_);
    std::erase_if(holders_, [&](JobId job) {
      Run& run = runs_[index(job)];
      const bool over = work(run, now, passed_s);
      clock_.held_s[index(job)] = run.done_s;
      if (!over) return false;
      run.holds = false;
      // One may have ended before the last round, which did not see it.
      const Time at = last_round_ == kNever ? run.end : std::max(run.end, last_round_);
      ended.push_back({.job = job, .at = at, .finished = run.end});
      return true;
    });
    std::ranges::sort(ended, {}, [](const Ended& end) { return std::pair(end.at, end.job); });
    if (last_round_ == kNever) first_round_ = now;
    last_round_ = now;
    clock_.now_s = seconds(now);
  }

  void round_held() override {
    if (rules_.charged == Charged::Starts) charge_starts();
    // Rounds after the last arrival cost nothing.
    const bool more = last_round_ < workload_.jobs.back().submitted;
    if (rules_.charged == Charged::Rounds && more) charge_all();
  }

 private:
  struct Run {
    double length_s = 0;
    double done_s = 0;
    double iterations_left = 0;
    double speed = 0;
    double cost_s = 0;  // to be paid out of the time it holds devices next
    int gpus = 0;
    Time end = kNever;
    Time seen = kNever;  // the round that sees its end
    Time worked_until{Duration::min()};
    bool holds = false;
    bool fresh = false;  // holds devices since this round
  };

  static Time put_off(Time time, Time earliest) {
    return time == kNever ? kNever : std::max(time, earliest);
  }

  // Answers whether the job is over.
  bool work(Run& run, Time now, double passed_s) const {
    if (rules_.rounds == Rounds::AtEvents && now == next_end_ && run.seen == now) return true;
    const double worked_s = std::max(passed_s - std::exchange(run.cost_s, 0), 0.0);
    run.done_s += worked_s;
    run.worked_until = now;
    if (rules_.rounds == Rounds::AtEvents) return false;
    const bool all_done = run.done_s >= run.length_s;
    run.end = all_done ? now - from_seconds(run.done_s - run.length_s) : now;
    if (!rules_.counts_iterations) return all_done;
    run.iterations_left -= worked_s * run.speed;
    if (run.iterations_left <= 0) run.end = now;
    return all_done || run.iterations_left <= 0;
  }

  // A job that starts is charged, but its end is predicted without that; in a round in which all
  // jobs restart all are charged, and it counts.
  void charge_starts() {
    cost_.next_round();
    next_end_ = kNever;
    for (const JobId job : holders_) {
      Run& run = runs_[index(job)];
      if (std::exchange(run.fresh, false) || cost_.restarts()) run.cost_s = cost_.start_s(run.gpus);
      const double counted_s = cost_.restarts() ? run.cost_s : 0;
      run.end = last_round_ + from_seconds(run.length_s - run.done_s + counted_s);
      run.seen = std::max(last_round_ + slot_, run.end);
      next_end_ = std::min(next_end_, run.seen);
    }
  }

  void charge_all() {
    cost_.next_round();
    charged_at_ = last_round_;
    for (const JobId job : holders_)
      runs_[index(job)].cost_s = cost_.start_s(runs_[index(job)].gpus);
  }

  // Jobs that wait for their time slice are charged as well: it is taken off when the slice comes.
  void charge_late(Run& run, const JobSpec& spec) const {
    if (spec.submitted <= charged_at_ && run.worked_until <= charged_at_) {
      run.cost_s = cost_.start_s(run.gpus);
    }
  }

  const Workload& workload_;
  const RigidRules rules_;
  ReleasedClock& clock_;
  const Duration slot_;
  RoundCost cost_;
  std::vector<Run> runs_;
  std::vector<JobId> holders_;
  Time first_round_ = kNever;
  Time last_round_ = kNever;
  Time next_end_ = kNever;
  Time charged_at_{Duration::min()};
};

}  // namespace

std::unique_ptr<Semantics> make_rigid_semantics(const Workload& workload, const Cluster& cluster,
                                                Duration slot, const RigidRules& rules,
                                                ReleasedClock& clock) {
  return std::make_unique<RigidSemantics>(workload, cluster, slot, rules, clock);
}

}  // namespace orrery
