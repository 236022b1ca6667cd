#pragma once

#include <functional>

#include "scheduling/scheduler/device_use.h"
#include "scheduling/scheduler/runs.h"
#include "scheduling/scheduler/scheduler.h"

namespace orrery {

// Machines elsewhere, as they are thought to be: answers every action at once and hands it on. How
// far jobs have come is estimated by their profiles and what shares their devices, and corrected by
// whatever is measured.
class EstimatedMachines final : public Executor {
 public:
  using Listener = std::function<void(const Action&)>;
  // The listener is called for an action after the scheduler has its answer.
  EstimatedMachines(const Workload& workload, const ContentionModel& contention, Listener listener);

  void report_to(Scheduler& scheduler);
  // Takes in what jobs hold by the scheduler's state, which was rebuilt from a log.
  void recover(Time now);
  void set_time(Time now) { runs_.set_time(now); }
  void set_trainer(const Trainer* trainer) { use_.set_trainer(trainer); }

  void perform(const Action& action) override;
  // Never nothing: a job that runs on past what it said is counted on to go on for a while.
  double work_left(JobId job) const override;

  // From outside. Of a running job:
  void measured(JobId job, double work_left, Time at) { runs_.measured(job, work_left, at); }
  void leave(JobId job) { use_.vacate(job); }           // it ended, or lost its devices
  Time end(JobId job) const { return runs_.end(job); }  // as far as is known

  void settle();  // after each round: sets the pace of all jobs whose sharers changed

 private:
  Scheduler* scheduler_ = nullptr;
  const Listener listener_;
  Runs runs_;
  DeviceUse use_;
};

}  // namespace orrery
