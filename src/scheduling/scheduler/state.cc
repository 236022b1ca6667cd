#include "scheduling/scheduler/state.h"

#include <algorithm>
#include <utility>

#include "base/invariant.h"

namespace orrery {

State::State(std::size_t nodes, std::size_t jobs) : on_nodes_(nodes) {
  jobs_.reserve(jobs);
  running_at_.reserve(jobs);
  for (std::size_t i = 0; i < forgotten_.size(); ++i) {
    forgotten_[i].state = static_cast<JobState>(i);
  }
}

Job& State::add() {
  Job* job = nullptr;
  if (unused_.empty()) {
    const std::size_t place = kept_++ % std::tuple_size_v<Block>;
    if (place == 0) blocks_.push_back(std::make_unique<Block>());
    job = &(*blocks_.back())[place];
  } else {
    job = unused_.back();
    unused_.pop_back();
    *job = Job();
  }
  jobs_.push_back(job);
  running_at_.push_back(-1);
  return *job;
}

void State::forget(JobId id) {
  Job*& job = jobs_[index(id)];
  INVARIANT(is_final(job->state), "only what has ended is forgotten");
  unused_.push_back(job);
  Job& shared = forgotten_[static_cast<std::size_t>(job->state)];
  job = &shared;
}

void State::apply(const Event& event) {
  if (event.kind == EventKind::Submitted) {
    INVARIANT(index(event.job) == jobs_.size(), "jobs are submitted in the order of their ids");
    Job& job = add();
    job.spec = event.spec;
    job.work_left = event.spec->iterations;
    ++waiting_;
    return;
  }
  if (is_about_node(event.kind)) return change_node(event);
  Job& job = *jobs_[index(event.job)];
  INVARIANT(!is_final(job.state), "nothing happens to a job after its end");
  switch (event.kind) {
    case EventKind::Admitted:
      job.promised = event.promised;
      break;
    case EventKind::Submitted:
    case EventKind::Queued:
      break;
    case EventKind::Started:
    case EventKind::Resumed:
    case EventKind::Moved:
    case EventKind::Resized:
    case EventKind::Regrouped:
      hold(job, event);
      break;
    case EventKind::Paused:
      let_go(job, event);
      job.state = JobState::Paused;
      break;
    case EventKind::Completed:
    case EventKind::Failed:
    case EventKind::Rejected:
    case EventKind::Cancelled:
      let_go(job, event);
      job.state = event.kind == EventKind::Completed  ? JobState::Done
                  : event.kind == EventKind::Failed   ? JobState::Failed
                  : event.kind == EventKind::Rejected ? JobState::Rejected
                                                      : JobState::Cancelled;
      --waiting_;
      break;
    case EventKind::NodeWarned:
    case EventKind::NodeLost:
    case EventKind::NodeBack:
      break;
  }
}

void State::change_node(const Event& event) {
  if (lost_.size() <= index(event.node)) lost_.resize(index(event.node) + 1);
  if (event.kind == EventKind::NodeWarned) return;
  lost_[index(event.node)] = event.kind == EventKind::NodeLost;
}

void State::restore(Job job) {
  const auto id = static_cast<JobId>(jobs_.size());
  Job& kept = add();
  if (job.state == JobState::Running) {
    running_at_.back() = static_cast<std::int32_t>(running_.size());
    running_.push_back(id);
    for (const NodeShare& share : job.held.devices) {
      reserve_nodes(index(share.node) + 1);
      on_nodes_[index(share.node)].push_back(id);
    }
  } else if (!is_final(job.state)) {
    ++waiting_;
  }
  kept = std::move(job);
}

void State::hold(Job& job, const Event& event) {
  if (job.state != JobState::Running) {
    job.run_since = event.time;
    job.state = JobState::Running;
    job.worked_until = event.time;
    running_at_[index(event.job)] = static_cast<std::int32_t>(running_.size());
    running_.push_back(event.job);
    --waiting_;
  }
  job.worked = job.worked_at(event.time);
  job.worked_until = event.time;
  leave_nodes(job, event.job);
  job.held = *event.grant;
  for (const NodeShare& share : job.held.devices) {
    if (on_nodes_.size() <= index(share.node)) on_nodes_.resize(index(share.node) + 1);
    on_nodes_[index(share.node)].push_back(event.job);
  }
  job.ready = event.ready;
  job.work_left = event.work_left;
}

void State::leave_nodes(const Job& job, JobId id) {
  for (const NodeShare& share : job.held.devices) {
    std::vector<JobId>& here = on_nodes_[index(share.node)];
    const auto place = std::ranges::find(here, id);
    *place = here.back();
    here.pop_back();
  }
}

void State::let_go(Job& job, const Event& event) {
  job.work_left = event.work_left;
  if (job.state != JobState::Running) return;
  job.attained += event.time - job.run_since;
  job.worked = job.worked_at(event.time);
  job.worked_until = event.time;
  leave_nodes(job, event.job);
  job.held.devices = {};
  job.held.group = kNoGroup;
  const auto place = static_cast<std::size_t>(running_at_[index(event.job)]);
  running_at_[index(running_.back())] = static_cast<std::int32_t>(place);
  running_[place] = running_.back();
  running_.pop_back();
  ++waiting_;
}

}  // namespace orrery
