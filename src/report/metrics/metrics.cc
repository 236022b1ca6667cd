#include "report/metrics/metrics.h"

#include <algorithm>

#include "base/invariant.h"
#include "report/metrics/useful_work.h"

namespace orrery {
namespace {

bool never_fits(const Reason& reason) {
  return reason.code == Reason::Code::TooLarge || reason.code == Reason::Code::NoSuchNode;
}

bool waits(JobState state) { return state == JobState::Pending || state == JobState::Paused; }

}  // namespace

Metrics::Metrics(const MetricsOptions& options)
    : workload_(options.workload),
      window_(options.window),
      quantiles_(options.interpolates ? QuantileRule::Interpolated : QuantileRule::Above),
      time_sums_(options.cluster) {
  if (options.faults) node_sums_.emplace(options.cluster, *options.faults);
  if (workload_ != nullptr) jobs_.reserve(workload_->jobs.size());
}

void Metrics::write(const Event& event) {
  time_sums_.advance(event.time);
  ++counts_.events;
  if (node_sums_) node_sums_->advance(event.time);
  if (is_about_node(event.kind)) {
    if (node_sums_) node_sums_->change(event);
    return;
  }
  Job& job = this->job(event);
  INVARIANT(job.known || event.kind == EventKind::Submitted,
            "a job is submitted before anything else happens to it");
  const bool counted = counts(event.job);
  if (node_sums_ && event.kind >= EventKind::Started) note_work(event, job);
  switch (event.kind) {
    case EventKind::Submitted:
      submit(event, job);
      break;
    case EventKind::Admitted:
      if (counted) promise(job);
      break;
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
      time_sums_.change_waiting(!waits(job.state));
      job.state = JobState::Paused;
      break;
    case EventKind::Completed:
      finish(event, job, JobState::Done);
      break;
    case EventKind::Failed:
      counts_.failed += counted;
      finish(event, job, JobState::Failed);
      break;
    case EventKind::Rejected:
      counts_.rejected += counted;
      counts_.too_large += counted && never_fits(event.reason);
      finish(event, job, JobState::Rejected);
      break;
    case EventKind::Cancelled:
      counts_.cancelled += counted;
      finish(event, job, JobState::Cancelled);
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

Metrics::Job& Metrics::job(const Event& event) {
  INVARIANT(event.job >= JobId{0}, "every event is about a job");
  if (index(event.job) >= jobs_.size()) jobs_.resize(index(event.job) + 1);
  return jobs_[index(event.job)];
}

void Metrics::submit(const Event& event, Job& job) {
  INVARIANT(event.spec != nullptr, "a submission carries the job's spec");
  INVARIANT(!job.known, "a job is submitted once");
  const JobSpec& spec = *event.spec;
  job.known = true;
  job.submitted = spec.submitted;
  job.iterations = job.work_left = spec.iterations;
  job.iteration_gpu_s = gpu_s_of_iteration(workload_, spec);
  job.curve = spec.curve;
  job.deadline = spec.deadline.value_or(kNever);
  time_sums_.begin(event.time);
  if (node_sums_) node_sums_->begin(event.time);
  time_sums_.change_waiting(1);
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
  if (waits(job.state)) time_sums_.change_waiting(-1);
  job.state = JobState::Running;
  job.slot = holdings_.open();
  const double useful_gpus =
      iterations_per_s(workload_, job.curve, *event.grant) * job.iteration_gpu_s;
  time_sums_.hold(event, useful_gpus, holdings_[job.slot]);
}

void Metrics::release(Time now, Job& job) {
  if (job.slot == kNoSlot) return;
  const TimeSums::Holding& holding = holdings_[job.slot];
  time_sums_.release(now, holding);
  job.ran += now - holding.since;
  holdings_.close(job.slot);
  job.slot = kNoSlot;
}

void Metrics::finish(const Event& event, Job& job, JobState state) {
  release(event.time, job);
  if (waits(job.state)) time_sums_.change_waiting(-1);
  job.state = state;
  const bool counted = counts(event.job);
  if (counted && job.deadline != kNever) {
    const bool met = state == JobState::Done && event.finished <= job.deadline;
    deadlines_.end(event.job, met, job.promised && !met && state != JobState::Cancelled);
  }
  if (state == JobState::Rejected) return;
  time_sums_.end(event.time);
  if (node_sums_) node_sums_->end();
  if (!counted) return;
  window_last_end_ = event.time;
  if (state == JobState::Done) complete(event, job);
}

void Metrics::complete(const Event& event, Job& job) {
  const Duration completion_time = event.time - job.submitted;
  ++counts_.completed;
  waited_s_ += seconds(completion_time - job.ran);
  job.ran = completion_time;
  if (job.deadline == kNever) deadlines_.complete_without_deadline(completion_time);
}

RunSummary Metrics::summary() const {
  RunSummary summary = counts_;
  summary.gpus = time_sums_.gpus_total();
  if (window_last_end_) summary.makespan_s = seconds(*window_last_end_);
  deadlines_.add_figures(summary);
  if (summary.completed > 0) add_completion_times(summary);
  double starting = 0;
  for (const Job& job : jobs_) {
    if (job.slot != kNoSlot)
      starting += time_sums_.starting_at_last_submission(holdings_[job.slot]);
  }
  time_sums_.add_figures(summary, starting);
  if (node_sums_) node_sums_->add_figures(summary);
  return summary;
}

CompletionTimes Metrics::completion_times() const {
  CompletionTimes times(jobs_.size(), kNotCompleted);
  for (std::size_t i = 0; i < jobs_.size(); ++i) {
    const bool done = jobs_[i].state == JobState::Done && counts(static_cast<JobId>(i));
    if (done) times[i] = jobs_[i].ran;
  }
  return times;
}

void Metrics::add_completion_times(RunSummary& summary) const {
  const std::vector<double> sorted_s = ascending_s(completion_times());
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
