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
      gpus_total_(options.cluster.gpus_total()),
      window_(options.window),
      interpolates_(options.interpolates),
      ledger_(options.cluster) {
  for (const Node& node : options.cluster.nodes) {
    host_total_.cpu_milli += node.cpu_milli;
    host_total_.memory_bytes += node.memory_bytes;
  }
  if (workload_ != nullptr) jobs_.reserve(workload_->jobs.size());
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
      counts_.too_large += counted && never_fits(event.reason);
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
  sums_.cpu_milli += passed * static_cast<double>(host_held_.cpu_milli);
  sums_.memory_bytes += passed * static_cast<double>(host_held_.memory_bytes);
  sums_.waiting_max = std::max(sums_.waiting_max, waiting_);
}

void Metrics::submit(const Event& event, Job& job) {
  INVARIANT(event.spec != nullptr, "a submission carries the job's spec");
  INVARIANT(!job.known, "a job is submitted once");
  const JobSpec& spec = *event.spec;
  job.known = true;
  job.submitted = spec.submitted;
  job.iterations = spec.iterations;
  job.iteration_gpu_s = gpu_s_of_iteration(workload_, spec);
  job.curve = spec.curve;
  job.deadline = spec.deadline.value_or(kNever);
  if (!first_submission_) first_submission_ = event.time;
  ++waiting_;
  if (!counts(event.job)) return;
  ++counts_.jobs;
  if (job.deadline == kNever) return;
  ++deadlines_.stated;
  if (spec.deadline_kind != DeadlineKind::Soft) return;
  if (soft_values_.size() <= index(event.job)) soft_values_.resize(index(event.job) + 1);
  soft_values_[index(event.job)] = spec.deadline_value;
}

void Metrics::promise(Job& job) {
  if (job.promised || job.deadline == kNever) return;
  job.promised = true;
  ++deadlines_.promised;
  deadlines_.promised_gpu_s += job.iterations * job.iteration_gpu_s;
}

void Metrics::hold(const Event& event, Job& job) {
  INVARIANT(event.grant != nullptr, "an event that starts or changes a grant carries it");
  let_go(event, job);
  waiting_ -= waits(job.state);
  job.state = JobState::Running;
  job.slot = holdings_.open();
  Holding& holding = holdings_[job.slot];
  holding.devices.assign(event.grant->devices.begin(), event.grant->devices.end());
  holding.since = event.time;
  holding.ready = std::max(event.ready, event.time);
  holding.useful_gpus = iterations_per_s(workload_, job.curve, *event.grant) * job.iteration_gpu_s;
  for (const NodeShare& share : holding.devices) gpus_held_ += ledger_.take(share);
  holding.host = {event.grant->cpu_milli, event.grant->memory_bytes};
  host_held_.cpu_milli += holding.host.cpu_milli;
  host_held_.memory_bytes += holding.host.memory_bytes;
  host_seen_ = host_seen_ || holding.host != HostShare{};
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
  host_held_.cpu_milli -= holding.host.cpu_milli;
  host_held_.memory_bytes -= holding.host.memory_bytes;
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
  const bool counted = counts(event.job);
  if (counted && job.deadline != kNever) judge(event, job);
  if (state == JobState::Rejected) return;
  last_end_ = event.time;
  sums_at_last_end_ = sums_;
  if (!counted) return;
  window_last_end_ = event.time;
  if (state == JobState::Done) complete(event, job);
}

// A job that its owner cancels breaks no promise.
void Metrics::judge(const Event& event, const Job& job) {
  const bool met = job.state == JobState::Done && event.finished <= job.deadline;
  deadlines_.met += met;
  deadlines_.broken += job.promised && !met && job.state != JobState::Cancelled;
  if (met && index(event.job) < soft_values_.size()) {
    deadlines_.value_won += soft_values_[index(event.job)];
  }
}

void Metrics::complete(const Event& event, Job& job) {
  const Duration completion_time = event.time - job.submitted;
  ++counts_.completed;
  waited_s_ += seconds(completion_time - job.ran);
  job.ran = completion_time;
  if (job.deadline != kNever) return;
  ++deadlines_.others_done;
  deadlines_.others_took_s += seconds(completion_time);
}

RunSummary Metrics::summary() const {
  RunSummary summary = counts_;
  summary.gpus = gpus_total_;
  if (window_last_end_) summary.makespan_s = seconds(*window_last_end_);
  if (deadlines_.stated > 0) add_deadline_figures(summary);
  if (summary.completed > 0) add_job_figures(summary);
  if (first_submission_ && last_end_) add_cluster_figures(summary);
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

void Metrics::add_deadline_figures(RunSummary& summary) const {
  const auto stated = static_cast<double>(deadlines_.stated);
  summary.deadlines_met = deadlines_.met;
  summary.deadline_ratio = static_cast<double>(deadlines_.met) / stated;
  summary.promises = deadlines_.promised;
  if (deadlines_.promised > 0) {
    summary.promises_broken = deadlines_.broken;
    summary.admitted_gpu_s = deadlines_.promised_gpu_s;
  }
  if (!soft_values_.empty()) summary.soft_value_won = deadlines_.value_won;
  if (deadlines_.others_done > 0) {
    const auto others = static_cast<double>(deadlines_.others_done);
    summary.best_effort_avg_jct_s = deadlines_.others_took_s / others;
  }
}

void Metrics::add_job_figures(RunSummary& summary) const {
  std::vector<Duration> sorted;
  sorted.reserve(static_cast<std::size_t>(summary.completed));
  for (std::size_t i = 0; i < jobs_.size(); ++i) {
    const bool done = jobs_[i].state == JobState::Done && counts(static_cast<JobId>(i));
    if (done) sorted.push_back(jobs_[i].ran);
  }
  std::ranges::sort(sorted);
  double sum_s = 0;
  for (const Duration completion_time : sorted) sum_s += seconds(completion_time);
  const auto count = static_cast<double>(sorted.size());
  summary.avg_jct_s = sum_s / count;
  summary.p50_jct_s = quantile_s(sorted, 0.50, interpolates_);
  summary.p95_jct_s = quantile_s(sorted, 0.95, interpolates_);
  summary.p99_jct_s = quantile_s(sorted, 0.99, interpolates_);
  summary.max_jct_s = seconds(sorted.back());
  summary.avg_wait_s = waited_s_ / count;
}

void Metrics::add_cluster_figures(RunSummary& summary) const {
  summary.max_queue = sums_at_last_end_.waiting_max;
  const auto span = static_cast<double>((*last_end_ - *first_submission_).count());
  if (!(span > 0)) return;
  summary.avg_queue = sums_at_last_end_.waiting / span;
  if (host_seen_ && host_total_.cpu_milli > 0) {
    summary.cpu_utilisation =
        sums_at_last_end_.cpu_milli / (span * static_cast<double>(host_total_.cpu_milli));
  }
  if (host_seen_ && host_total_.memory_bytes > 0) {
    summary.memory_utilisation =
        sums_at_last_end_.memory_bytes / (span * static_cast<double>(host_total_.memory_bytes));
  }
  if (gpus_total_ == 0) return;
  const double capacity = span * gpus_total_;
  summary.gpu_utilisation = sums_at_last_end_.held / capacity;
  if (grants_seen_ && rates_known_) {
    summary.cluster_efficiency = std::max(0.0, sums_at_last_end_.useful / capacity);
  }
}

}  // namespace orrery
