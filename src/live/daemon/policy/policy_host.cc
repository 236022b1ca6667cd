#include "live/daemon/policy/policy_host.h"

#include <algorithm>

#include "base/invariant.h"

namespace orrery {

PolicyHost::PolicyHost(const Book& book, EventSink& sink) : book_(book), sink_(sink) { rebuild(); }

Status PolicyHost::make(const ChosenPolicy& choice, PolicySetup& setup) const {
  TRY_ASSIGN(setup, make_policy({.workload = book_.workload(), .policy = choice}));
  return {};
}

Status PolicyHost::check(const ChosenPolicy& choice) const {
  PolicySetup checked;
  return make(choice, checked);
}

// The scheduler needs some policy until take_over(); no round is held before.
void PolicyHost::rebuild() {
  std::vector<Job> jobs;
  if (scheduler_ != nullptr) jobs.assign(state().jobs().begin(), state().jobs().end());
  PolicySetup first;
  const Status made = make({.name = "fifo"}, first);
  INVARIANT(made.ok(), "fifo needs no options");
  policy_ = std::move(first);
  packer_ =
      std::make_unique<Packer>(book_.cluster(), book_.workload().names, std::move(policy_.rule));
  machines_ = std::make_unique<EstimatedMachines>(book_.workload(), ContentionModel(),
                                                  [](const Action&) {});
  scheduler_ = std::make_unique<Scheduler>(Scheduler::Parts{.workload = book_.workload(),
                                                            .cluster = book_.cluster(),
                                                            .policy = *policy_.policy,
                                                            .packer = *packer_,
                                                            .executor = *machines_,
                                                            .sink = sink_,
                                                            .infeasible_waits = true});
  machines_->report_to(*scheduler_);
  for (std::size_t i = 0; i < jobs.size(); ++i) {
    scheduler_->restore(std::move(jobs[i]), book_.jobs()[i].queued_for);
  }
}

void PolicyHost::take_over() {
  PolicySetup fresh;
  const Status made = make(book_.policy(), fresh);
  INVARIANT(made.ok(), "a policy is checked before the log names it");
  auto packer =
      std::make_unique<Packer>(book_.cluster(), book_.workload().names, std::move(fresh.rule));
  machines_->set_trainer(fresh.policy->trainer());
  scheduler_->take_over(*fresh.policy, *packer, book_.cluster());
  policy_ = std::move(fresh);
  packer_ = std::move(packer);
  cluster_changed_ = false;
}

void PolicyHost::recover(Time now) {
  machines_->recover(now);
  scheduler_->set_time(now);
}

void PolicyHost::set_time(Time now) {
  machines_->set_time(now);
  scheduler_->set_time(now);
}

void PolicyHost::submit(JobId job, Time now) {
  scheduler_->submit(book_.workload().jobs[index(job)], now);
}

void PolicyHost::pause(JobId job, const Reason& reason) {
  const double left = work_left_after(job, reason);
  machines_->leave(job);
  scheduler_->paused(job, left, reason);
  machines_->settle();
  request_round();
}

void PolicyHost::end(JobId job, EventKind how, const Reason& reason, Time now) {
  const double left = how == EventKind::Completed ? 0 : work_left(job);
  machines_->leave(job);
  scheduler_->ended(job, how, left, now, now, reason);
  machines_->settle();
  request_round();
}

void PolicyHost::measured(JobId job, double work_left, Time now) {
  machines_->measured(job, work_left, now);
  machines_->settle();
}

Time PolicyHost::next_round(Duration gap, Time now) const {
  const Time wanted = round_due_ ? now : wake_;
  if (wanted == kNever) return kNever;
  const Time round = std::max(wanted, last_round_ + gap);
  const Duration step = book_.policy().round;
  if (step <= Duration::zero()) return round;
  return Time((round.time_since_epoch() + step - Duration(1)) / step * step);
}

void PolicyHost::begin_round() {
  if (cluster_changed_) take_over();
}

void PolicyHost::hold_round(Time now) {
  wake_ = scheduler_->hold_round(now);
  machines_->settle();
  round_due_ = false;
  last_round_ = now;
  ++rounds_;
}

double PolicyHost::work_left(JobId job) const {
  const Job& known = state().job(job);
  return known.state == JobState::Running ? machines_->work_left(job) : known.work_left;
}

double PolicyHost::work_left_after(JobId job, const Reason& reason) const {
  const double left = work_left(job);
  const LiveJob& live = book_.job(job);
  const bool suddenly = reason.code == Reason::Code::Retry || reason.code == Reason::Code::NodeLost;
  if (!suddenly || live.checkpointed < 0 || live.iterations <= 0) return left;
  const double safe = std::clamp(live.checkpointed / live.iterations, 0.0, 1.0);
  return std::max(left, (1 - safe) * book_.workload().jobs[index(job)].iterations);
}

}  // namespace orrery
