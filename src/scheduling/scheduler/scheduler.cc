#include "scheduling/scheduler/scheduler.h"

#include <algorithm>
#include <utility>

#include "base/invariant.h"
#include "scheduling/scheduler/held_shape.h"

namespace orrery {
namespace {

// A short run forgets nothing.
constexpr std::size_t kForgottenAtOnce = 1024;

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

}  // namespace

Scheduler::Scheduler(const Parts& parts)
    : parts_(parts),
      cluster_(&parts.cluster),
      policy_(&parts.policy),
      packer_(&parts.packer),
      state_(parts.cluster.nodes.size(), parts.workload.jobs.size()) {}

void Scheduler::emit(Event& event) {
  event.time = now_;
  event.sequence = sequence_++;
  state_.apply(event);
  if (is_end(event.kind) && parts_.forgets_ended) final_.push_back(event.job);
  note_reported(event);
  parts_.sink.write(event);
}

void Scheduler::note_reported(const Event& event) {
  if (event.grant != nullptr) {
    reported_[index(event.job)] = {};
  } else if (event.kind == EventKind::Submitted) {
    reported_.push_back({});
  } else if (event.kind == EventKind::Queued) {
    reported_[index(event.job)] = event.reason.code;
  }
}

void Scheduler::arrive(JobId job) {
  sight_[index(job)] = Sight::Arrives;
  arrived_.push_back(job);
}

void Scheduler::submit(const JobSpec& spec, Time now) {
  now_ = now;
  Event event{.kind = EventKind::Submitted, .job = spec.id, .spec = &spec};
  emit(event);
  sight_.push_back({});
  arrive(spec.id);
}

void Scheduler::queue_not_here(JobId id) {
  sight_[index(id)] = Sight::NotHere;
  if (reported_[index(id)] == Reason::Code::NotHere) return;
  Event event{
      .kind = EventKind::Queued, .job = id, .reason = *packer_->not_here(state_.job(id).shape)};
  emit(event);
}

// A job that fits nodes that are not open waits for them out of sight, and so does one that has run
// or has a promise: only a newcomer is refused.
void Scheduler::admit() {
  const auto refused = [this](JobId id) {
    const ShapeId shape = packer_->intern(shape_of(*state_.job(id).spec));
    state_.set_shape(id, shape);
    const Job& job = state_.job(id);
    if (job.state == JobState::Running || !packer_->not_here(shape)) return false;
    const auto never = packer_->infeasible(shape);
    if (!never || parts_.infeasible_waits || job.promised || job.state == JobState::Paused) {
      queue_not_here(id);
      return true;
    }
    Event event{.kind = EventKind::Rejected,
                .job = id,
                .work_left = state_.job(id).work_left,
                .reason = *never};
    emit(event);
    return true;
  };
  std::erase_if(arrived_, refused);
}

View Scheduler::view(Time now) {
  if (detached_ > 0) {
    running_.clear();
    std::ranges::copy_if(state_.running(), std::back_inserter(running_),
                         [this](JobId job) { return sight_[index(job)] != Sight::Detached; });
  }
  return {.now = now,
          .workload = &parts_.workload,
          .cluster = cluster_,
          .jobs = state_.jobs(),
          .running = detached_ > 0 ? std::span<const JobId>(running_) : state_.running(),
          .arrived = arrived_,
          .ended = ended_,
          .freed = freed_,
          .on_nodes = state_.on_nodes(),
          .progress = parts_.progress != nullptr ? parts_.progress : &parts_.executor};
}

Time Scheduler::hold_round(Time now) {
  now_ = now;
  admit();
  if (taken_over_) settle_adopted();
  // Where nothing is open there is nothing to decide; what happens meanwhile is shown later.
  if (packer_->current().gpus_total() == 0) return kNever;
  const View view = this->view(now);
  plan_.clear();
  Ledger& ledger = packer_->current();
  ledger.forget();
  const std::size_t ended_before = final_.size();
  policy_->plan(view, *packer_, plan_);
  ledger.undo(0);
  const auto changed = laws_.check(view, ledger, plan_);
  for (const JobId job : arrived_) sight_[index(job)] = Sight::Shown;
  arrived_.clear();
  ended_.clear();
  freed_.clear();
  acting_ = true;
  act(plan_, changed);
  acting_ = taken_over_ = false;
  laws_.check_carried_out({*cluster_, state_.jobs(), state_.on_nodes()}, ledger);
  if (ended_before >= kForgottenAtOnce) forget_ended(ended_before);
  return plan_.wake_at();
}

// Those at the front of the list, which the policy has seen.
void Scheduler::forget_ended(std::size_t count) {
  const auto end = final_.begin() + static_cast<std::ptrdiff_t>(count);
  std::for_each(final_.begin(), end, [this](JobId job) { state_.forget(job); });
  final_.erase(final_.begin(), end);
}

void Scheduler::act(const Plan& plan, std::span<const Grant* const> changed) {
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
  for (const Grant* grant : changed) {
    parts_.executor.perform({.kind = kind_of(state_.job(grant->job), *grant),
                             .job = grant->job,
                             .grant = grant,
                             .reason = {}});
  }
  for (const Plan::Outlook& forecast : plan.forecasts()) {
    parts_.executor.expect(forecast);
  }
  for (const Plan::Verdict& verdict : plan.waits()) {
    if (state_.job(verdict.job).state == JobState::Running) continue;
    // A job that waits for the same under another policy than before has been reported.
    if (taken_over_ && reported_[index(verdict.job)] == verdict.reason.code) continue;
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

void Scheduler::free_devices(const Job& job) {
  packer_->current().release(job.held.devices, held_shape(job));
  for (const NodeShare& share : job.held.devices) freed_.push_back(share.node);
}

void Scheduler::held(const Action& action, Time ready, double work_left) {
  const Job& job = state_.job(action.job);
  Ledger& ledger = packer_->current();
  if (job.state == JobState::Running) free_devices(job);
  Event event{.kind = event_of(action.kind),
              .job = action.job,
              .grant = action.grant,
              .ready = ready,
              .work_left = work_left};
  emit(event);
  ledger.take(job.held.devices, held_shape(job));
}

void Scheduler::node_changed(NodeId node, EventKind kind, Time now) {
  now_ = now;
  Event event{.kind = kind, .node = node};
  emit(event);
}

void Scheduler::paused(JobId id, double work_left, const Reason& reason, double work_lost) {
  const Job& job = state_.job(id);
  const bool detached = sight_[index(id)] == Sight::Detached;
  if (detached) {
    --detached_;
  } else {
    free_devices(job);
  }
  Event event{.kind = EventKind::Paused,
              .job = id,
              .work_left = work_left,
              .work_lost = work_lost,
              .reason = reason};
  emit(event);
  if (acting_ || sight_[index(id)] == Sight::Arrives) return;
  // The policy did not ask for this: to it the job is another from now on.
  if (!detached) ended_.push_back(id);
  arrive(id);
}

void Scheduler::ended(JobId id, EventKind how, double work_left, Time now, Time finished,
                      const Reason& reason) {
  now_ = now;
  const Job& job = state_.job(id);
  const Sight sight = sight_[index(id)];
  if (sight == Sight::Detached) {
    --detached_;
  } else if (job.state == JobState::Running) {
    free_devices(job);
  }
  Event event{
      .kind = how, .job = id, .work_left = work_left, .reason = reason, .finished = finished};
  if (how == EventKind::Cancelled && reason.code == Reason::Code::None) {
    event.reason.code = Reason::Code::Cancelled;
  }
  emit(event);
  // The policy has not heard of one that came and went since the last round, and need not.
  if (sight == Sight::Arrives) std::erase(arrived_, id);
  if (sight == Sight::Shown) ended_.push_back(id);
}

void Scheduler::hold(JobId id, const Reason& reason) {
  const Job& job = state_.job(id);
  INVARIANT(job.state == JobState::Pending || job.state == JobState::Paused,
            "a job that is put on hold neither runs nor has ended");
  const Sight before = std::exchange(sight_[index(id)], Sight::OnHold);
  if (before == Sight::Arrives) std::erase(arrived_, id);
  if (before == Sight::Shown) ended_.push_back(id);
  Event event{.kind = EventKind::Queued, .job = id, .reason = reason};
  emit(event);
}

void Scheduler::release(JobId id) {
  if (sight_[index(id)] == Sight::OnHold && !is_final(state_.job(id).state)) arrive(id);
}

}  // namespace orrery
