#include <algorithm>
#include <bit>
#include <utility>

#include "live/daemon/core/core.h"

namespace orrery {
namespace {

const char* reason_of(const Event& event) {
  if (event.kind == EventKind::Resized) return "resize";
  return event.reason.code == Reason::Code::Requested ? "drain" : "preempt";
}

}  // namespace

// All of its processes run, on nodes that can be told, and the first has said how far it is.
bool Core::can_be_asked(const LiveJob& job, std::int64_t epoch) const {
  const auto run = std::ranges::find(job.runs, epoch, &EpochRun::epoch);
  if (run == job.runs.end()) return false;
  int running = 0;
  bool speaks = false;
  for (const LiveLaunch& launch : job.launches) {
    if (launch.name.epoch != epoch) continue;
    const Contact& contact = contacts_[index(launch.node)];
    if (contact.connection == 0 || book_.node(launch.node).state != NodeState::Up) return false;
    const auto said = std::ranges::find(contact.launches, launch.name, &LaunchReport::name);
    if (said == contact.launches.end() || said->state != LaunchState::Running) return false;
    speaks = speaks || (launch.name.rank == 0 && said->iteration >= 0);
    ++running;
  }
  return speaks && running == run->ranks;
}

void Core::ask_to_stop(const Event& event) {
  const LiveJob& job = book_.job(event.job);
  const bool goes_on = event.kind == EventKind::Moved || event.kind == EventKind::Resized;
  if (!goes_on && event.kind != EventKind::Paused) {
    if (!job.wanted) stops_.drop(job.number);
    return;
  }
  const std::int64_t epoch = goes_on ? job.epoch - 1 : job.epoch;
  if (!can_be_asked(job, epoch)) return;
  const auto run = std::ranges::find(job.runs, epoch, &EpochRun::epoch);
  StopOrder order{.launch = {.job = job.number, .epoch = epoch}, .reason = reason_of(event)};
  if (event.kind == EventKind::Resized) {
    order.ranks_next = job.ranks();
    for (const LiveLaunch& launch : job.launches) {
      if (launch.name.epoch == job.epoch) order.gpus_next += std::popcount(launch.gpus);
    }
  }
  stops_.begin(std::move(order), run->ranks, now_);
}

void Core::look_at_stops() {
  for (const JobNumber job : stops_.look(now_)) wake_nodes_of(book_.job(*book_.find(job)));
}

// A job that speaks, and is wanted no more where it was, exits well when it has come to rest. It is
// done only if it says so. Whether it was told to stop is not asked: neither this scheduler nor
// that agent need be the ones who told it.
JobEnd Core::end_of(const LaunchReport& report) {
  const LiveLaunch* launch = book_.find(report.name);
  const LiveJob& job = book_.job(*book_.find(report.name.job));
  if (report.name.epoch <= book_.origin().epoch_floor &&
      report.end.kind == JobEnd::Kind::NotStarted) {
    return {.kind = JobEnd::Kind::SupervisorLost, .message = "its node knows nothing of it"};
  }
  if (!succeeded(report.end) || report.finished || job.iteration < 0) return report.end;
  if (launch == nullptr || Book::wants(job, *launch)) return report.end;
  return {.kind = JobEnd::Kind::Stopped,
          .exit_code = 0,
          .message = "came to rest as it was asked",
          .ran_ns = report.end.ran_ns};
}

// For one that runs already, all that its agent needs. It names no program: where the launch is
// not known after all, it cannot be begun.
Assignment Core::to_be_kept(const LiveJob& job, const LiveLaunch& launch) {
  return {.name = launch.name,
          .ranks = launch.name.rank + 1,
          .gpus = launch.gpus,
          .grace = job.request->grace};
}

// Without a chance to save anything, a job that keeps checkpoints goes back to its last one.
double Core::work_left_after(JobId id, const Reason& reason) const {
  const double left = work_left(id);
  const LiveJob& job = book_.job(id);
  const bool suddenly = reason.code == Reason::Code::Retry || reason.code == Reason::Code::NodeLost;
  if (!suddenly || job.checkpointed < 0 || job.iterations <= 0) return left;
  const double safe = std::clamp(job.checkpointed / job.iterations, 0.0, 1.0);
  return std::max(left, (1 - safe) * book_.workload().jobs[index(id)].iterations);
}

}  // namespace orrery
