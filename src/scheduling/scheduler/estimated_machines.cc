#include "scheduling/scheduler/estimated_machines.h"

#include <utility>

namespace orrery {

EstimatedMachines::EstimatedMachines(const Workload& workload, const ContentionModel& contention,
                                     Listener listener)
    : listener_(std::move(listener)), use_(workload, *this, contention) {}

void EstimatedMachines::report_to(Scheduler& scheduler) {
  scheduler_ = &scheduler;
  use_.follow(scheduler.state());
}

double EstimatedMachines::work_left(JobId job) const {
  constexpr double kOverrun = 0.05;  // of all it said; ours, so that it is neither done nor new
  const double left = runs_.work_left(job);
  return left > 0 ? left : kOverrun * scheduler_->state().job(job).spec->iterations;
}

void EstimatedMachines::recover(Time now) {
  for (const JobId id : scheduler_->state().running()) {
    const Job& job = scheduler_->state().job(id);
    runs_.set_time(job.worked_until);  // the last event about it
    runs_.hold(id, job.work_left, job.ready);
    use_.occupy(id, job.held);
  }
  use_.settle([this](const DeviceUse::Pace& pace) {
    runs_.set_time(scheduler_->state().job(pace.job).worked_until);
    runs_.pace(pace.job, pace.iteration_s);
  });
  runs_.set_time(now);
}

void EstimatedMachines::perform(const Action& action) {
  const JobId id = action.job;
  const Job& job = scheduler_->state().job(id);
  const double left = job.state == JobState::Running ? work_left(id) : job.work_left;
  use_.vacate(id);
  if (action.kind == Action::Kind::Pause) {
    scheduler_->paused(id, left, action.reason);
  } else {
    const Time ready = ready_after(action, job, runs_.now());
    scheduler_->held(action, ready, left);
    runs_.hold(id, left, ready);
    use_.occupy(id, job.held);
  }
  listener_(action);
}

void EstimatedMachines::settle() {
  use_.settle([this](const DeviceUse::Pace& pace) { runs_.pace(pace.job, pace.iteration_s); });
}

}  // namespace orrery
