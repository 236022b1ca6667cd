#include "commands/programs/live_trace.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "live/daemon/log/event_tail.h"
#include "workload/generators/synergy_models.h"

namespace orrery {
namespace {

constexpr double kShortest_s = 0.001;

}  // namespace

Status LiveTrace::take(const std::string& line) {
  TRY_ASSIGN(const Record record, read_event_line(line));
  if (records_++ == 0 && record.sequence != 1) {
    return Error{
        Code::FailedPrecondition,
        fmt::format("the log begins with record {}: what came before is in a snapshot, and "
                    "a trace needs all of it",
                    record.sequence)};
  }
  TRY_ASSIGN(const Entry entry, read_entry(record));
  TRY(book_.apply(entry, record.time));
  runs_.resize(book_.jobs().size());
  if (const auto* decided = std::get_if<Decided>(&entry)) follow(*decided, record.time);
  return {};
}

void LiveTrace::stop(Run& run, Time time) {
  if (std::exchange(run.runs, false) && time > run.from) {
    run.done_s += seconds(time - run.from) * run.rate;
  }
}

// One that had no chance to save anything goes back to its last checkpoint, or to its beginning.
void LiveTrace::stop_suddenly(Run& run, JobId id, const Decided& decided, Time time) {
  const double before_s = run.done_s;
  stop(run, time);
  const bool saved = book_.job(id).checkpointed >= 0;
  run.done_s = saved ? std::clamp(before_s + run.left - decided.work_left, 0.0, run.done_s) : 0;
}

void LiveTrace::follow(const Decided& decided, Time time) {
  const auto id = book_.find(decided.job);
  if (!id) return;
  Run& run = runs_[index(*id)];
  if (decided.kind == EventKind::Paused) {
    const Reason::Code why = decided.reason.code;
    const bool suddenly = why == Reason::Code::Retry || why == Reason::Code::NodeLost;
    return suddenly ? stop_suddenly(run, *id, decided, time) : stop(run, time);
  }
  if (decided.kind == EventKind::Cancelled) run.is_cancelled = true;
  if (decided.kind >= EventKind::Completed) return stop(run, time);
  if (decided.devices.empty()) return;
  stop(run, time);
  run = {.done_s = run.done_s,
         .has_run = true,
         .runs = true,
         .from = std::max(time, decided.ready),
         .rate = decided.iterations_per_s > 0 ? decided.iterations_per_s : 1,
         .left = decided.work_left};
}

Workload LiveTrace::jobs() const {
  Workload workload = book_.workload();
  for (JobSpec& job : workload.jobs) {
    const std::size_t i = index(job.id);
    const Run& run = runs_[i];
    job.name = fmt::format("{}", book_.jobs()[i].number);
    if (run.has_run && !run.runs) job.iterations = std::max(run.done_s, kShortest_s);
  }
  std::erase_if(workload.jobs, [&](const JobSpec& job) { return is_left_out(index(job.id)); });
  for (std::size_t i = 0; i < workload.jobs.size(); ++i) {
    workload.jobs[i].id = static_cast<JobId>(i);
  }
  return workload;
}

std::vector<JobNumber> LiveTrace::never_ran() const {
  std::vector<JobNumber> jobs;
  for (std::size_t i = 0; i < runs_.size(); ++i) {
    if (is_left_out(i)) jobs.push_back(book_.jobs()[i].number);
  }
  return jobs;
}

Cluster LiveTrace::cluster() const {
  Cluster cluster;
  for (std::size_t i = 0; i < book_.nodes().size(); ++i) {
    if (book_.nodes()[i].state == NodeState::Removed) continue;
    cluster.nodes.push_back(book_.cluster().nodes[i]);
    cluster.nodes.back().open = true;
  }
  return cluster;
}

Result<Workload> LiveTrace::synergy_jobs() const {
  Workload workload = jobs();
  // What profiles it was given is not part of a model's name.
  for (std::string& name : workload.names) name = name.substr(0, name.find(':'));
  for (JobSpec& job : workload.jobs) {
    const SynergyModel* model = find_synergy_model(workload.name_of(job.model));
    if (model == nullptr) {
      return invalid(fmt::format(
          "job {} cannot be written: it names none of Synergy's models with --profile, which that "
          "format gives its speed by; use --format orrery or events",
          job.name));
    }
    job.iteration_s = model->iteration_s.front();
    job.iterations = std::max(1.0, std::round(job.iterations / job.iteration_s));
  }
  return workload;
}

}  // namespace orrery
