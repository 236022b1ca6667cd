#include <fmt/format.h>

#include <algorithm>

#include "live/daemon/agents/node_users.h"
#include "live/daemon/core/core.h"

namespace orrery {
namespace {

Error no_job(JobNumber number) {
  return {Code::NotFound,
          fmt::format("there is no job {}; `orrery status --all` lists them", number)};
}

}  // namespace

// ---- Submission

Result<SubmitAnswer> Core::submit(const Caller& caller, SubmitRequest request, Time now) {
  unfold();
  JobRequest& job = request.job;
  if (job.user.empty()) job.user = caller.name;
  if (job.user != caller.name && caller.role == Caller::Role::User) {
    return Error{
        Code::PermissionDenied,
        fmt::format("{} may not submit jobs as {}; leave --user out", caller.name, job.user)};
  }
  TRY(check(job));
  TRY(check_nodes_for(job.user, book_.nodes()));
  const auto count = static_cast<std::int64_t>(std::max<std::size_t>(1, job.array.size()));
  if (!request.key.empty()) {
    request.key = caller.name + "/" + request.key;
    if (const auto first = book_.submission(request.key)) {
      return SubmitAnswer{.first = *first, .count = count};
    }
  }
  const Claim claim{.caller = caller, .job = job, .count = count};
  TRY(check_claim(book_.entitlements(), claim));
  TRY(check_pending(book_.entitlements(), claim, book_.pending()));
  for (const JobNumber other : job.after) {
    const auto id = book_.find(other);
    if (!id) return no_job(other).at("after");
    const JobState ended = state().job(*id).state;
    if (is_final(ended) && ended != JobState::Done) {
      return Error{
          Code::FailedPrecondition,
          fmt::format("after: job {} will never be done, it is {}", other, to_string(ended))};
    }
  }
  job.speeds.reset();
  job.sensitivity.reset();
  if (options_.specs.measure) TRY(options_.specs.measure(job));
  TRY(rates_.take(book_.entitlements(), claim, now));
  const JobNumber first = book_.next_number();
  Submitted entry{.first = first, .request = std::move(job), .key = std::move(request.key)};
  // Those that wait for others are held back by decisions, which belong to the same moment.
  if (count > 1 && entry.request.after.empty()) {
    pass_time(now);
    records_.push_back(to_record(entry, now_));
    folded_ = std::move(entry);
    round_due_ = true;
  } else {
    TRY(redo(entry, now));
  }
  return SubmitAnswer{.first = first, .count = count};
}

void Core::unfold() {
  if (!folded_) return;
  const Submitted entry = *std::move(folded_);
  folded_.reset();
  const std::size_t jobs = book_.jobs().size();
  must(book_.apply(entry, now_));
  admit(jobs);
}

void Core::admit(std::size_t first) {
  for (std::size_t i = first; i < book_.jobs().size(); ++i) {
    const auto id = static_cast<JobId>(i);
    scheduler_->submit(book_.workload().jobs[i], now_);
    hold_back_if_needed(id);
  }
}

// ---- Dependencies

void Core::hold_dependents_back() {
  for (std::size_t i = 0; i < book_.jobs().size(); ++i) {
    book_.job(static_cast<JobId>(i)).dependents.clear();
  }
  for (std::size_t i = 0; i < book_.jobs().size(); ++i) {
    const auto id = static_cast<JobId>(i);
    if (!is_final(state().job(id).state)) hold_back_if_needed(id);
  }
}

// A job whose forerunners are not done is kept from the policy. Those know it, and tell it when
// they are.
void Core::hold_back_if_needed(JobId id) {
  priorities_ = priorities_ || book_.job(id).request->priority != 0;
  waits_for_others_.resize(book_.jobs().size());
  waits_for_others_[index(id)] = false;
  const JobNumber* first_open = nullptr;
  for (const JobNumber& other : book_.job(id).request->after) {
    const auto found = book_.find(other);
    if (!found || is_final(state().job(*found).state)) continue;
    book_.job(*found).dependents.push_back(id);
    if (first_open == nullptr) first_open = &other;
  }
  if (first_open == nullptr) return;
  waits_for_others_[index(id)] = true;
  scheduler_->hold_back(id, {.code = Reason::Code::Dependency, .other = *book_.find(*first_open)});
}

void Core::tell_dependents(JobId id) {
  const bool done = state().job(id).state == JobState::Done;
  const std::vector<JobId> dependents = std::exchange(book_.job(id).dependents, {});
  for (const JobId dependent : dependents) {
    if (is_final(state().job(dependent).state)) continue;
    if (!done) {
      end_job(dependent, EventKind::Cancelled, {.code = Reason::Code::Dependency, .other = id});
      continue;
    }
    const auto& after = book_.job(dependent).request->after;
    const bool met = std::ranges::all_of(after, [&](JobNumber other) {
      const auto found = book_.find(other);
      return !found || state().job(*found).state == JobState::Done;
    });
    if (met) {
      waits_for_others_[index(dependent)] = false;
      scheduler_->let_in(dependent);
      round_due_ = true;
    }
  }
}

// ---- Ends

void Core::end_job(JobId id, EventKind how, const Reason& reason) {
  if (is_final(state().job(id).state)) return;
  const double left = how == EventKind::Completed ? 0 : work_left(id);
  machines_->leave(id);
  scheduler_->ended(id, how, left, now_, now_, reason);
  machines_->settle();
  tell_dependents(id);
  round_due_ = true;
}

void Core::pause_job(JobId id, const Reason& reason) {
  const double left = work_left_after(id, reason);
  machines_->leave(id);
  scheduler_->paused(id, left, reason);
  machines_->settle();
  round_due_ = true;
}

Result<CancelAnswer> Core::cancel(const Caller& caller, const CancelRequest& request, Time now) {
  unfold();
  for (const JobNumber number : request.ids) {
    const auto id = book_.find(number);
    if (!id) return no_job(number);
    if (caller.role == Caller::Role::User && book_.job(*id).request->user != caller.name) {
      return Error{Code::PermissionDenied,
                   fmt::format("job {} belongs to {}; only they and operators can cancel it",
                               number, book_.job(*id).request->user)};
    }
  }
  CancelAnswer answer;
  for (const JobNumber number : request.ids) {
    if (is_final(state().job(*book_.find(number)).state)) continue;
    TRY(redo(CancelAsked{.job = number, .by = caller.name}, now));
    answer.cancelled.push_back(number);
  }
  return answer;
}

// A process has ended that may have been running until now.
void Core::launch_ended(const LaunchName& name, const JobEnd& end) {
  const LiveLaunch* launch = book_.find(name);
  if (launch == nullptr) return;
  const NodeId node = launch->node;
  const JobId id = *book_.find(name.job);
  const bool wanted = Book::wants(book_.job(id), *launch);
  log(LaunchEnded{.launch = name, .end = end});
  --alive_;
  stops_.left(name);
  contacts_[index(node)].dirty = true;
  if (index(id) < waits_for_node_.size() && waits_for_node_[index(id)]) round_due_ = true;
  if (!is_final(state().job(id).state)) rank_ended(id, name.epoch, end, wanted, node);
  if (book_.job(id).launches.empty()) rendezvous_.forget(name.job);
  if (may_begin(book_.job(id))) wake_nodes_of(book_.job(id));
}

void Core::rank_ended(JobId id, std::int64_t epoch, const JobEnd& end, bool wanted, NodeId node) {
  const LiveJob& job = book_.job(id);
  const auto run = std::ranges::find(job.runs, epoch, &EpochRun::epoch);
  if (run != job.runs.end() && run->done == run->ranks) {
    // Also one that was just asked to stop or to move: its work is done, and must not be done
    // again.
    end_job(id, EventKind::Completed);
    return;
  }
  if (!wanted || succeeded(end)) return;
  switch (end.kind) {
    case JobEnd::Kind::Exited:
    case JobEnd::Kind::Signalled:
    case JobEnd::Kind::OutOfMemory:
    case JobEnd::Kind::NotStarted:
      if (!starts_jobs_of(book_.node(node).offer, job.request->user)) {
        end_job(id, EventKind::Failed);
      } else if (job.failures < job.request->retries) {
        pause_job(id, {.code = Reason::Code::Retry,
                       .wanted = job.failures + 1,
                       .available = job.request->retries});
      } else {
        end_job(id, EventKind::Failed);
      }
      return;
    case JobEnd::Kind::TimeLimit:
      // The next try would have no time left.
      return end_job(id, EventKind::Failed);
    case JobEnd::Kind::Stopped:
    case JobEnd::Kind::LeaseLost:
    case JobEnd::Kind::SupervisorLost:
      pause_job(id, {.code = Reason::Code::NodeLost});
      return;
  }
}

// Launches that no agent can have heard of need not be waited for. In a replay nobody is told
// anything, and the log says which these were.
void Core::drop_unsent(JobId id) {
  if (redoes_) return;
  std::vector<LaunchName> unsent;
  for (const LiveLaunch& launch : book_.job(id).launches) {
    const bool told = !launch.of_this_term || launch.named_in != 0;
    if (!told && !Book::wants(book_.job(id), launch)) unsent.push_back(launch.name);
  }
  for (const LaunchName& name : unsent) {
    launch_ended(name, {.kind = JobEnd::Kind::Stopped, .message = "was never begun", .ran_ns = 0});
  }
}

void Core::note(const Progressed& progress) {
  const JobId id = *book_.find(progress.job);
  if (state().job(id).state != JobState::Running) return;
  if (progress.iterations <= 0 || progress.iteration < 0) return;
  const double part = std::clamp(progress.iteration / progress.iterations, 0.0, 1.0);
  machines_->measured(id, (1 - part) * book_.workload().jobs[index(id)].iterations, now_);
  machines_->settle();
}

}  // namespace orrery
