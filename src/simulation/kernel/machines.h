#pragma once

#include <optional>

#include "scheduling/scheduler/device_use.h"
#include "scheduling/scheduler/scheduler.h"
#include "simulation/kernel/saved_work.h"
#include "simulation/worlds/semantics.h"

namespace orrery {

// Simulated machines: carries actions out at once, and gives every job the speed that the others
// on its devices allow.
class Machines final : public Executor {
 public:
  // With a trainer, jobs it knows run at its speed.
  Machines(const Workload& workload, Semantics& semantics, const ContentionModel& contention,
           const Trainer* trainer = nullptr);

  void report_to(Scheduler& scheduler) {
    scheduler_ = &scheduler;
    use_.follow(scheduler.state());
  }
  // Makes each job alone on its devices faster or slower than its profile, by at most this part.
  void err_in_speeds(double error, std::uint64_t seed);
  // Nodes may be lost, and jobs save their work by these rules.
  void save_work(const FaultRules& rules) { saved_.emplace(rules, workload_); }
  void set_time(Time now) { now_ = now; }
  void set_trainer(const Trainer* trainer) { use_.set_trainer(trainer); }

  void perform(const Action& action) override;
  double work_left(JobId job) const override { return semantics_.work_left(job); }
  void expect(const Plan::Outlook& outlook) override { semantics_.expect(outlook); }

  // Its node is lost, after a warning this long before.
  void lose(JobId job, NodeId node, Duration notice);
  void leave(JobId job) { use_.vacate(job); }  // it ended by itself
  void settle();  // the round is over: sets the speed of all jobs whose sharers changed

 private:
  const Workload& workload_;
  Semantics& semantics_;
  Scheduler* scheduler_ = nullptr;
  Time now_{};
  DeviceUse use_;
  std::optional<SavedWork> saved_;
};

}  // namespace orrery
