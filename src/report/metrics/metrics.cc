#include "report/metrics/metrics.h"

#include <algorithm>

#include "base/invariant.h"
#include "report/metrics/useful_work.h"

namespace orrery {
namespace {

bool never_fits(const Reason& reason) {
  return reason.code == Reason::Code::TooLarge || reason.code == Reason::Code::NoSuchNode;
}

}  // namespace

Metrics::Metrics(const MetricsOptions& options)
    : workload_(options.workload),
      window_(options.window),
      quantiles_(options.interpolates ? QuantileRule::Interpolated : QuantileRule::Above),
      time_sums_(options.cluster),
      fairness_(options.cluster.gpus_total()) {
  if (options.faults) node_sums_.emplace(options.cluster, *options.faults);
  if (workload_ == nullptr) return;
  jobs_.reserve(workload_->jobs.size());
  completion_times_.reserve(workload_->jobs.size());
}

void Metrics::write(const Event& event) {
  time_sums_.advance(event.time);
  ++counts_.events;
  if (node_sums_) node_sums_->advance(event.time);
  if (is_about_node(event.kind)) {
    if (node_sums_) node_sums_->change(event);
    return;
  }
  if (event.kind == EventKind::Submitted) return submit(event);
  INVARIANT(
      jobs_.has(event.job),
      "a job is submitted before anything else happens to it, and nothing does after its end");
  Job& job = jobs_[event.job];
  const bool counted = counts(event.job);
  if (node_sums_ && event.kind >= EventKind::Started) note_work(event, job);
  switch (event.kind) {
    case EventKind::Admitted:
      if (counted) promise(job);
      break;
    case EventKind::Submitted:
    case EventKind::Queued:
      break;
    case EventKind::Started:
    case EventKind::Resumed:
      ++counts_.starts;
      hold(event, job);
      break;
    case EventKind::Moved:
      ++counts_.moves;
      hold(event, job);
      break;
    case EventKind::Resized:
      ++counts_.resizes;
      hold(event, job);
      break;
    case EventKind::Regrouped:
      hold(event, job);
      break;
    case EventKind::Paused:
      ++counts_.preemptions;
      release(event.time, job);
      break;
    case EventKind::Completed:
      finish(event, JobState::Done);
      break;
    case EventKind::Failed:
      counts_.failed += counted;
      finish(event, JobState::Failed);
      break;
    case EventKind::Rejected:
      counts_.rejected += counted;
      counts_.too_large += counted && never_fits(event.reason);
      finish(event, JobState::Rejected);
      break;
    case EventKind::Cancelled:
      counts_.cancelled += counted;
      finish(event, JobState::Cancelled);
      break;
    case EventKind::NodeWarned:
    case EventKind::NodeLost:
    case EventKind::NodeBack:
      break;
  }
}

void Metrics::note_work(const Event& event, Job& job) {
  node_sums_->do_work((job.work_left - event.work_left) * job.iteration_gpu_s);
  job.work_left = event.work_left;
  if (event.kind == EventKind::Paused && event.reason.code == Reason::Code::NodeLost) {
    node_sums_->lose_work(event.work_lost * job.iteration_gpu_s);
  }
}

void Metrics::submit(const Event& event) {
  INVARIANT(event.spec != nullptr, "a submission carries the job's spec");
  INVARIANT(event.job >= JobId{0} && !jobs_.has(event.job), "a job is submitted once");
  const JobSpec& spec = *event.spec;
  while (index(event.job) >= completion_times_.size()) completion_times_.push_back(kNotCompleted);
  Job& job = jobs_.open(event.job);
  job.submitted = spec.submitted;
  job.ran = {};
  job.deadline = spec.deadline.value_or(kNever);
  job.iterations = job.work_left = spec.iterations;
  job.iteration_gpu_s = gpu_s_of_iteration(workload_, spec);
  job.curve = spec.curve;
  job.runs = job.promised = false;
  time_sums_.begin(event.time);
  if (node_sums_) node_sums_->begin(event.time);
  time_sums_.change_waiting(1);
  job.place = fairness_.submit(event.time, spec);
  if (!counts(event.job)) return;
  ++counts_.jobs;
  if (job.deadline != kNever) deadlines_.submit(spec, event.job);
}

void Metrics::promise(Job& job) {
  if (job.promised || job.deadline == kNever) return;
  job.promised = true;
  deadlines_.promise(job.iterations * job.iteration_gpu_s);
}

void Metrics::hold(const Event& event, Job& job) {
  INVARIANT(event.grant != nullptr, "an event that starts or changes a grant carries it");
  release(event.time, job);
  time_sums_.change_waiting(-1);
  job.runs = true;
  const double useful_gpus =
      iterations_per_s(workload_, job.curve, *event.grant) * job.iteration_gpu_s;
  time_sums_.hold(event, useful_gpus, job.holding);
}

// It waits from now on.
void Metrics::release(Time now, Job& job) {
  if (!job.runs) return;
  job.runs = false;
  time_sums_.release(now, job.holding);
  time_sums_.change_waiting(1);
  job.ran += now - job.holding.since;
}

void Metrics::finish(const Event& event, JobState state) {
  Job& job = jobs_[event.job];
  release(event.time, job);
  time_sums_.change_waiting(-1);
  const bool counted = counts(event.job);
  const std::optional<double> rho = fairness_.leave(event.time, job.place);
  if (counted && rho && state == JobState::Done) fairness_.count(*rho);
  if (counted && job.deadline != kNever) {
    const bool met = state == JobState::Done && event.finished <= job.deadline;
    deadlines_.end(event.job, met, job.promised && !met && state != JobState::Cancelled);
  }
  jobs_.close(event.job);  // what it holds stays until another is submitted
  if (state == JobState::Rejected) return;
  time_sums_.end(event.time);
  if (node_sums_) node_sums_->end();
  if (!counted) return;
  window_last_end_ = event.time;
  if (state == JobState::Done) complete(event, job);
}

void Metrics::complete(const Event& event, const Job& job) {
  const Duration completion_time = event.time - job.submitted;
  completion_times_[index(event.job)] = completion_time;
  ++counts_.completed;
  waited_s_ += seconds(completion_time - job.ran);
  if (job.deadline == kNever) deadlines_.complete_without_deadline(completion_time);
}

RunSummary Metrics::summary() const {
  RunSummary summary = counts_;
  summary.gpus = time_sums_.gpus_total();
  if (window_last_end_) summary.makespan_s = seconds(*window_last_end_);
  deadlines_.add_figures(summary);
  if (summary.completed > 0) add_completion_times(summary);
  double starting = 0;
  const auto ids = static_cast<std::int32_t>(completion_times_.size());
  for (JobId id{0}; id < JobId{ids}; id = JobId{static_cast<std::int32_t>(id) + 1}) {
    if (!jobs_.has(id) || !jobs_[id].runs) continue;
    starting += time_sums_.starting_at_last_submission(jobs_[id].holding);
  }
  time_sums_.add_figures(summary, starting);
  fairness_.add_figures(summary);
  if (node_sums_) node_sums_->add_figures(summary);
  return summary;
}

void Metrics::add_completion_times(RunSummary& summary) const {
  const std::vector<double> sorted_s = ascending_s(completion_times_);
  double sum_s = 0;
  for (const double completion_time_s : sorted_s) sum_s += completion_time_s;
  const auto count = static_cast<double>(sorted_s.size());
  summary.avg_jct_s = sum_s / count;
  summary.p50_jct_s = quantile(sorted_s, 0.50, quantiles_);
  summary.p95_jct_s = quantile(sorted_s, 0.95, quantiles_);
  summary.p99_jct_s = quantile(sorted_s, 0.99, quantiles_);
  summary.max_jct_s = sorted_s.back();
  summary.avg_wait_s = waited_s_ / count;
}

}  // namespace orrery
