#pragma once

#include <memory>

#include "live/daemon/log/book.h"
#include "scheduling/policy/registry.h"
#include "scheduling/scheduler/estimated_machines.h"
#include "scheduling/scheduler/scheduler.h"

namespace orrery {

// Runs the chosen policy over a book. It decides when a round is due, what the policy sees of jobs
// and nodes, and how far each job is estimated to be. Its decisions go to the sink as events.
//
// The book and the sink outlive it. The caller sets the time before any other call.
class PolicyHost {
 public:
  PolicyHost(const Book& book, EventSink& sink);

  // An error if there is no such policy, or if it has no such option.
  Status check(const ChosenPolicy& choice) const;

  // Begins with the jobs that are known and a policy without memory. take_over() must follow before
  // the first round.
  void rebuild();
  // The policy that the book names decides from now on, over the nodes of the book.
  void take_over();
  // From a log: a job as a snapshot has it, or an event. No sink is called.
  void restore(Job job, Reason::Code queued_for) {
    scheduler_->restore(std::move(job), queued_for);
  }
  void recover(const Event& event) { scheduler_->recover(event); }
  void recover(Time now);  // what jobs hold, after the last event

  void set_time(Time now);
  void submit(JobId job, Time now);
  // The policy does not see a held job. A running job must be paused first.
  void hold(JobId job, const Reason& reason) { scheduler_->hold(job, reason); }
  void release(JobId job) { scheduler_->release(job); }
  // The job has lost its devices. After a sudden loss a job goes back to its last checkpoint.
  void pause(JobId job, const Reason& reason);
  // The job must not be final.
  void end(JobId job, EventKind how, const Reason& reason, Time now);
  // The job reported how much work is left.
  void measured(JobId job, double work_left, Time now);

  // A round is due at once, or as soon as the gap between rounds allows it.
  void request_round() { round_due_ = true; }
  void cluster_changed() { cluster_changed_ = true; }
  // `gap`: the shortest time between two rounds. kNever: not before something happens.
  Time next_round(Duration gap, Time now) const;
  // Takes over if nodes have changed. hold_round() follows, once jobs are held or released.
  void begin_round();
  void hold_round(Time now);
  std::int64_t rounds() const { return rounds_; }

  const State& state() const { return scheduler_->state(); }
  bool knows_opportunistic() const { return policy_.policy->knows_opportunistic(); }
  double work_left(JobId job) const;
  // An estimate of when a running job will be done.
  Time expected_end(JobId job) const { return machines_->end(job); }

 private:
  Status make(const ChosenPolicy& choice, PolicySetup& setup) const;
  double work_left_after(JobId job, const Reason& reason) const;

  const Book& book_;
  EventSink& sink_;
  PolicySetup policy_;
  std::unique_ptr<Packer> packer_;
  std::unique_ptr<EstimatedMachines> machines_;
  std::unique_ptr<Scheduler> scheduler_;
  Time wake_ = kNever;  // when the policy wants a round even if nothing happens
  Time last_round_{Duration(-1)};
  bool round_due_ = false;
  bool cluster_changed_ = false;
  std::int64_t rounds_ = 0;
};

}  // namespace orrery
