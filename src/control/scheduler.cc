#include "control/scheduler.h"

#include <algorithm>

#include "base/invariant.h"

namespace orrery {
namespace {

Action::Kind kind_of(const Job& job, const Grant& grant) {
  if (job.state == JobState::Pending) return Action::Kind::Start;
  if (job.state == JobState::Paused) return Action::Kind::Resume;
  if (job.held.devices == grant.devices) return Action::Kind::Regroup;
  return gpu_count(job.held.devices) == gpu_count(grant.devices) ? Action::Kind::Move
                                                                 : Action::Kind::Resize;
}

EventKind event_of(Action::Kind kind) {
  switch (kind) {
    case Action::Kind::Start:
      return EventKind::Started;
    case Action::Kind::Resume:
      return EventKind::Resumed;
    case Action::Kind::Move:
      return EventKind::Moved;
    case Action::Kind::Resize:
      return EventKind::Resized;
    case Action::Kind::Regroup:
      return EventKind::Regrouped;
    case Action::Kind::Pause:
      return EventKind::Paused;
  }
  return EventKind::Paused;
}

Shape held_shape(const Job& job) {
  Shape shape = shape_of(*job.spec);
  shape.gpus = gpu_count(job.held.devices);
  shape.cpu_milli = job.held.cpu_milli;
  shape.memory_bytes = job.held.memory_bytes;
  return shape;
}

}  // namespace

void Scheduler::emit(Event& event) {
  event.time = now_;
  event.sequence = sequence_++;
  state_.apply(event);
  parts_.sink.write(event);
}

void Scheduler::submit(const JobSpec& spec, Time now) {
  now_ = now;
  Event event{.kind = EventKind::Submitted, .job = spec.id, .spec = &spec};
  emit(event);
  arrived_.push_back(spec.id);
}

void Scheduler::admit() {
  const auto refused = [this](JobId id) {
    const ShapeId shape = parts_.packer.intern(shape_of(*state_.job(id).spec));
    state_.set_shape(id, shape);
    const auto never = parts_.packer.infeasible(shape);
    if (!never) return false;
    Event event{.kind = EventKind::Rejected,
                .job = id,
                .work_left = state_.job(id).work_left,
                .reason = *never};
    emit(event);
    return true;
  };
  std::erase_if(arrived_, refused);
}

Time Scheduler::hold_round(Time now) {
  now_ = now;
  admit();
  const View view{.now = now,
                  .workload = &parts_.workload,
                  .cluster = &parts_.cluster,
                  .jobs = state_.jobs(),
                  .running = state_.running(),
                  .arrived = arrived_,
                  .ended = ended_,
                  .freed = freed_,
                  .on_nodes = state_.on_nodes(),
                  .progress = parts_.progress != nullptr ? parts_.progress : &parts_.executor};
  plan_.clear();
  Ledger& ledger = parts_.packer.current();
  ledger.forget();
  parts_.policy.plan(view, parts_.packer, plan_);
  ledger.undo(0);
  arrived_.clear();
  ended_.clear();
  freed_.clear();
  act(plan_);
  return plan_.wake_at();
}

void Scheduler::act(Plan& plan) {
  for (const Plan::Outlook& promise : plan.promises()) {
    Event event{.kind = EventKind::Admitted, .job = promise.job, .promised = promise.done};
    emit(event);
  }
  for (const Plan::Verdict& verdict : plan.stops()) {
    parts_.executor.perform({.kind = Action::Kind::Pause,
                             .job = verdict.job,
                             .grant = nullptr,
                             .reason = verdict.reason});
  }
  for (const Grant& grant : plan.grants()) {
    const Job& job = state_.job(grant.job);
    INVARIANT(!grant.devices.empty(), "a grant names devices");
    if (job.state == JobState::Running && job.held == grant) continue;
    parts_.executor.perform(
        {.kind = kind_of(job, grant), .job = grant.job, .grant = &grant, .reason = {}});
  }
  for (const Plan::Outlook& forecast : plan.forecasts()) {
    parts_.executor.expect(forecast);
  }
  for (const Plan::Verdict& verdict : plan.waits()) {
    if (state_.job(verdict.job).state == JobState::Running) continue;
    Event event{.kind = EventKind::Queued, .job = verdict.job, .reason = verdict.reason};
    emit(event);
  }
  for (const Plan::Verdict& verdict : plan.rejections()) {
    Event event{.kind = EventKind::Rejected,
                .job = verdict.job,
                .work_left = state_.job(verdict.job).work_left,
                .reason = verdict.reason};
    emit(event);
  }
}

void Scheduler::release(const Job& job) {
  parts_.packer.current().release(job.held.devices, held_shape(job));
  for (const NodeShare& share : job.held.devices) freed_.push_back(share.node);
}

void Scheduler::held(const Action& action, Time ready, double work_left) {
  const Job& job = state_.job(action.job);
  Ledger& ledger = parts_.packer.current();
  if (job.state == JobState::Running) release(job);
  Event event{.kind = event_of(action.kind),
              .job = action.job,
              .grant = action.grant,
              .ready = ready,
              .work_left = work_left};
  emit(event);
  ledger.take(job.held.devices, held_shape(job));
}

void Scheduler::paused(JobId id, double work_left, const Reason& reason) {
  const Job& job = state_.job(id);
  release(job);
  Event event{.kind = EventKind::Paused, .job = id, .work_left = work_left, .reason = reason};
  emit(event);
}

void Scheduler::ended(JobId id, EventKind how, double work_left, Time now, Time finished) {
  now_ = now;
  const Job& job = state_.job(id);
  if (job.state == JobState::Running) release(job);
  Event event{.kind = how, .job = id, .work_left = work_left, .finished = finished};
  if (how == EventKind::Cancelled) event.reason.code = Reason::Code::Cancelled;
  emit(event);
  // The policy has not heard of one that came and went since the last round, and need not.
  if (std::erase(arrived_, id) == 0) ended_.push_back(id);
}

}  // namespace orrery
