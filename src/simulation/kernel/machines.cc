#include "simulation/kernel/machines.h"

#include "base/random.h"

namespace orrery {

Machines::Machines(const Workload& workload, Semantics& semantics,
                   const ContentionModel& contention, const Trainer* trainer)
    : workload_(workload), semantics_(semantics), use_(workload, semantics, contention) {
  use_.set_trainer(trainer);
}

// A stream of its own for each job, so that a longer trace changes nothing for those before.
void Machines::err_in_speeds(double error, std::uint64_t seed) {
  std::vector<double> speeds;
  for (std::size_t job = 0; job < workload_.jobs.size(); ++job) {
    Random random(seed * 0x9e3779b97f4a7c15 + job);
    speeds.push_back(1 + error * (2 * random.uniform() - 1));
  }
  use_.set_real_speeds(std::move(speeds));
}

void Machines::perform(const Action& action) {
  const JobId id = action.job;
  if (action.kind == Action::Kind::Pause) {
    use_.vacate(id);
    scheduler_->paused(id, semantics_.drop(id), action.reason);
    return;
  }
  const Job& job = scheduler_->state().job(id);
  const bool runs = job.state == JobState::Running;
  const double left = runs ? semantics_.work_left(id) : job.work_left;
  const Time ready = ready_after(action, job, now_);
  const bool restarts = action.kind != Action::Kind::Regroup || ready != job.ready;
  use_.vacate(id);
  scheduler_->held(action, ready, left);
  semantics_.hold(id, left, ready, job.held);
  use_.occupy(id, job.held);
  if (!saved_) return;
  if (restarts) {
    saved_->start(id, now_, ready, left);
  } else {
    saved_->check(id, now_, left);
  }
}

void Machines::lose(JobId id, NodeId node, Duration notice) {
  use_.vacate(id);
  const SavedWork::Loss loss = saved_->lose(id, now_, semantics_.drop(id), notice);
  scheduler_->paused(
      id, loss.work_left,
      {.code = Reason::Code::NodeLost, .wanted = static_cast<std::int64_t>(index(node))},
      loss.work_lost);
}

void Machines::settle() {
  use_.settle([this](const DeviceUse::Pace& pace) {
    if (!saved_) return semantics_.pace(pace.job, pace.iteration_s, pace.start);
    saved_->check(pace.job, now_, semantics_.work_left(pace.job));
    semantics_.pace(pace.job, pace.iteration_s * saved_->factor(pace.job), pace.start);
  });
}

}  // namespace orrery
