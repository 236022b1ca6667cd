#include "sim/machines.h"

namespace orrery {

Machines::Machines(const Workload& workload, Semantics& semantics)
    : workload_(workload), semantics_(semantics) {}

void Machines::perform(const Action& action) {
  const JobId id = action.job;
  if (action.kind == Action::Kind::Pause) {
    scheduler_->paused(id, semantics_.drop(id), action.reason);
    return;
  }
  const bool runs = scheduler_->state().job(id).state == JobState::Running;
  const double left = runs ? semantics_.work_left(id) : scheduler_->state().job(id).work_left;
  const Time ready = now_ + workload_.jobs[index(id)].start_cost;
  scheduler_->held(action, ready, left);
  semantics_.hold(id, left, ready);
  touched_.push_back(id);
}

void Machines::forget(JobId /*job*/) {}

void Machines::settle() {
  for (const JobId id : touched_) {
    const JobSpec& spec = workload_.jobs[index(id)];
    semantics_.pace(id, spec.iteration_s * 1.015, spec.start_cost);
  }
  touched_.clear();
}

}  // namespace orrery
