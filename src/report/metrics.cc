#include "report/metrics.h"

#include <algorithm>

#include "base/invariant.h"

namespace orrery {
namespace {

bool waits(JobState state) { return state == JobState::Pending || state == JobState::Paused; }

// The reference simulators' rule: no interpolation, and the index rounded down.
double quantile_s(const std::vector<Duration>& sorted, double q) {
  const auto at = static_cast<std::size_t>(q * static_cast<double>(sorted.size()));
  return seconds(sorted[std::min(at, sorted.size() - 1)]);
}

}  // namespace

Metrics::Metrics(const MetricsOptions& options)
    : gpus_total_(options.cluster.gpus_total()), window_(options.window), ledger_(options.cluster) {
  if (options.workload != nullptr) {
    jobs_.reserve(options.workload->jobs.size());
    completion_times_.reserve(options.workload->jobs.size());
  }
}

void Metrics::write(const Event& event) {
  advance(event.time);
  ++counts_.events;
  Job& job = this->job(event);
  INVARIANT(job.known || event.kind == EventKind::Submitted,
            "a job is submitted before anything else happens to it");
  const bool counted = counts(event.job);
  switch (event.kind) {
    case EventKind::Submitted:
      submit(event, job);
      break;
    case EventKind::Admitted:
    case EventKind::Queued:
      break;
    case EventKind::Started:
    case EventKind::Resumed:
      counts_.starts += counted;
      hold(event, job);
      break;
    case EventKind::Moved:
      counts_.moves += counted;
      hold(event, job);
      break;
    case EventKind::Resized:
      counts_.resizes += counted;
      hold(event, job);
      break;
    case EventKind::Regrouped:
      hold(event, job);
      break;
    case EventKind::Paused:
      counts_.preemptions += counted;
      let_go(event, job);
      waiting_ += !waits(job.state);
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
      finish(event, job, JobState::Rejected);
      break;
    case EventKind::Cancelled:
      counts_.cancelled += counted;
      finish(event, job, JobState::Cancelled);
      break;
  }
}

Metrics::Job& Metrics::job(const Event& event) {
  INVARIANT(event.job >= JobId{0}, "every event is about a job");
  if (index(event.job) >= jobs_.size()) jobs_.resize(index(event.job) + 1);
  return jobs_[index(event.job)];
}

// The queue's maximum is taken here too: a job that is submitted and started in the same instant
// has never stood in it.
void Metrics::advance(Time now) {
  if (now <= now_) return;
  const auto passed = static_cast<double>((now - now_).count());
  now_ = now;
  if (!first_submission_) return;
  sums_.waiting += passed * static_cast<double>(waiting_);
  sums_.held += passed * static_cast<double>(gpus_held_);
  sums_.useful += passed * useful_gpus_;
  sums_.waiting_max = std::max(sums_.waiting_max, waiting_);
}

void Metrics::submit(const Event& event, Job& job) {
  INVARIANT(event.spec != nullptr, "a submission carries the job's spec");
  INVARIANT(!job.known, "a job is submitted once");
  const JobSpec& spec = *event.spec;
  job.known = true;
  job.submitted = spec.submitted;
  job.solo_gpu_s = spec.iteration_s * spec.gpus;
  job.deadline = spec.deadline.value_or(kNever);
  if (!first_submission_) first_submission_ = event.time;
  ++waiting_;
  if (!counts(event.job)) return;
  ++counts_.jobs;
  deadlines_ += job.deadline != kNever;
}

void Metrics::hold(const Event& event, Job& job) {
  INVARIANT(event.grant != nullptr, "an event that starts or changes a grant carries it");
  let_go(event, job);
  waiting_ -= waits(job.state);
  job.state = JobState::Running;
  job.slot = holdings_.open();
  Holding& holding = holdings_[job.slot];
  holding.devices = event.grant->devices;
  holding.since = event.time;
  holding.ready = std::max(event.ready, event.time);
  holding.useful_gpus = event.grant->iterations_per_s * job.solo_gpu_s;
  for (const NodeShare& share : holding.devices) gpus_held_ += ledger_.take(share);
  grants_seen_ = true;
  rates_known_ = rates_known_ && holding.useful_gpus > 0;
  // Nothing useful happens before the first iteration. That loss is taken off in advance, and what
  // of it did not come true is given back when the grant ends; so nobody has to wake up at `ready`.
  useful_gpus_ += holding.useful_gpus;
  sums_.useful -= holding.useful_gpus * static_cast<double>((holding.ready - event.time).count());
}

void Metrics::let_go(const Event& event, Job& job) {
  if (job.slot == kNoSlot) return;
  const Holding& holding = holdings_[job.slot];
  for (const NodeShare& share : holding.devices) gpus_held_ -= ledger_.release(share);
  useful_gpus_ -= holding.useful_gpus;
  if (holding.ready > event.time) {
    const Duration unspent = holding.ready - event.time;
    sums_.useful += holding.useful_gpus * static_cast<double>(unspent.count());
  }
  job.ran += event.time - holding.since;
  holdings_.close(job.slot);
  job.slot = kNoSlot;
}

void Metrics::finish(const Event& event, Job& job, JobState state) {
  let_go(event, job);
  waiting_ -= waits(job.state);
  job.state = state;
  if (state == JobState::Rejected) return;
  last_end_ = event.time;
  sums_at_last_end_ = sums_;
  if (!counts(event.job)) return;
  window_last_end_ = event.time;
  if (state != JobState::Done) return;
  const Duration completion_time = event.time - job.submitted;
  completion_times_.push_back(completion_time);
  waited_s_ += seconds(completion_time - job.ran);
  deadlines_met_ += job.deadline != kNever && event.finished <= job.deadline;
}

RunSummary Metrics::summary() const {
  RunSummary summary = counts_;
  summary.gpus = gpus_total_;
  if (window_last_end_) summary.makespan_s = seconds(*window_last_end_);
  if (deadlines_ > 0) {
    summary.deadlines_met = deadlines_met_;
    summary.deadline_ratio = static_cast<double>(deadlines_met_) / static_cast<double>(deadlines_);
  }
  if (!completion_times_.empty()) add_job_figures(summary);
  if (first_submission_ && last_end_) add_cluster_figures(summary);
  return summary;
}

void Metrics::add_job_figures(RunSummary& summary) const {
  std::vector<Duration> sorted = completion_times_;
  std::ranges::sort(sorted);
  double sum_s = 0;
  for (const Duration completion_time : sorted) sum_s += seconds(completion_time);
  const auto count = static_cast<double>(sorted.size());
  summary.completed = static_cast<std::int64_t>(sorted.size());
  summary.avg_jct_s = sum_s / count;
  summary.p50_jct_s = quantile_s(sorted, 0.50);
  summary.p95_jct_s = quantile_s(sorted, 0.95);
  summary.p99_jct_s = quantile_s(sorted, 0.99);
  summary.max_jct_s = seconds(sorted.back());
  summary.avg_wait_s = waited_s_ / count;
}

void Metrics::add_cluster_figures(RunSummary& summary) const {
  summary.max_queue = sums_at_last_end_.waiting_max;
  const auto span = static_cast<double>((*last_end_ - *first_submission_).count());
  if (!(span > 0)) return;
  summary.avg_queue = sums_at_last_end_.waiting / span;
  if (gpus_total_ == 0) return;
  const double capacity = span * gpus_total_;
  summary.gpu_utilisation = sums_at_last_end_.held / capacity;
  if (grants_seen_ && rates_known_) {
    summary.cluster_efficiency = std::max(0.0, sums_at_last_end_.useful / capacity);
  }
}

}  // namespace orrery
