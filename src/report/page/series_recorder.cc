#include "report/page/series_recorder.h"

#include <algorithm>

#include "base/invariant.h"
#include "report/metrics/useful_work.h"

namespace orrery {

SeriesRecorder::Charts::Charts(const ChartTime& time, const Cluster& cluster, std::size_t rows_max)
    : queue(time),
      gpus(time, cluster, rows_max),
      nodes(time, cluster),
      host(time, cluster),
      efficiency(time, cluster.gpus_total()),
      deadlines(time) {}

SeriesOptions shared_page(SeriesOptions options, std::size_t runs) {
  constexpr std::size_t kRowsOfAll = 2400;
  constexpr std::size_t kSpansOfAll = 30000;
  constexpr std::size_t kRunsInDetail = 6;
  runs = std::max<std::size_t>(runs, 1);
  options.rows_max = std::clamp<std::size_t>(kRowsOfAll / runs, 1, options.rows_max);
  options.spans_max = std::min(options.spans_max, kSpansOfAll / runs);
  if (runs > kRunsInDetail) options.buckets_max /= 2;
  return options;
}

SeriesRecorder::SeriesRecorder(const SeriesOptions& options)
    : workload_(options.workload),
      cluster_(options.cluster),
      rows_max_(options.rows_max),
      buckets_max_(options.buckets_max),
      refusals_max_(options.refusals_max),
      spans_(cluster_.nodes.size() <= std::max<std::size_t>(rows_max_, 1) &&
                 cluster_.gpus_total() <= options.spans_gpus_max,
             options.spans_max) {}

void SeriesRecorder::write(const Event& event) {
  if (!charts_) charts_.emplace(ChartTime{event.time, buckets_max_}, cluster_, rows_max_);
  charts_->efficiency.advance(event.time);
  now_ = event.time;
  if (is_about_node(event.kind)) return charts_->nodes.change(now_, event);
  if (index(event.job) >= jobs_.size()) jobs_.resize(index(event.job) + 1);
  Job& job = jobs_[index(event.job)];
  switch (event.kind) {
    case EventKind::Submitted:
      submit(event, job);
      break;
    case EventKind::Admitted:
      if (!job.promised && job.deadline != kNever) {
        charts_->deadlines.count(now_, DeadlineChart::kPromised);
      }
      job.promised = true;
      break;
    case EventKind::Queued:
      break;
    case EventKind::Started:
    case EventKind::Resumed:
    case EventKind::Moved:
    case EventKind::Resized:
    case EventKind::Regrouped:
      hold(event, job);
      break;
    case EventKind::Paused:
      release(event, job);
      set_waiting(job, true);
      break;
    case EventKind::Rejected:
      refuse(event);
      finish(event, job);
      break;
    case EventKind::Completed:
    case EventKind::Failed:
    case EventKind::Cancelled:
      finish(event, job);
      break;
    case EventKind::NodeWarned:
    case EventKind::NodeLost:
    case EventKind::NodeBack:
      break;
  }
}

void SeriesRecorder::submit(const Event& event, Job& job) {
  const JobSpec& spec = *event.spec;
  job.deadline = spec.deadline.value_or(kNever);
  job.iteration_gpu_s = gpu_s_of_iteration(workload_, spec);
  job.curve = spec.curve;
  set_waiting(job, true);
  if (job.deadline != kNever) charts_->deadlines.count(now_, DeadlineChart::kSubmitted);
  spans_.submit(event.job, spec, workload_ == nullptr ? "" : workload_->name_of(spec.model));
}

void SeriesRecorder::hold(const Event& event, Job& job) {
  INVARIANT(event.grant != nullptr, "an event that starts or changes a grant carries it");
  const Grant& grant = *event.grant;
  set_waiting(job, false);
  if (job.slot == kNoSlot || holdings_[job.slot].devices != grant.devices) {
    release(event, job);
    job.slot = holdings_.open();
    Holding& holding = holdings_[job.slot];
    holding.devices.assign(grant.devices.begin(), grant.devices.end());
    holding.since = now_;
    charts_->gpus.take(now_, holding.devices);
  }
  set_host(holdings_[job.slot], {grant.cpu_milli, grant.memory_bytes});
  charts_->efficiency.begin(now_, job.slot, event.ready,
                            iterations_per_s(workload_, job.curve, grant) * job.iteration_gpu_s);
}

void SeriesRecorder::finish(const Event& event, Job& job) {
  release(event, job);
  set_waiting(job, false);
  if (job.deadline == kNever) return;
  const bool met = event.kind == EventKind::Completed && event.finished <= job.deadline;
  charts_->deadlines.count(now_, met ? DeadlineChart::kMet : DeadlineChart::kMissed);
}

void SeriesRecorder::refuse(const Event& event) {
  if (refusals_.size() >= refusals_max_) return;
  const bool listed = workload_ != nullptr && index(event.job) < workload_->jobs.size();
  const JobSpec* spec = listed ? &workload_->jobs[index(event.job)] : nullptr;
  refusals_.push_back({spec == nullptr ? "#" + std::to_string(index(event.job)) : spec->name,
                       spec == nullptr ? 0 : spec->gpus, seconds(event.time), text(event.reason)});
}

void SeriesRecorder::release(const Event& event, Job& job) {
  if (job.slot == kNoSlot) return;
  Holding& holding = holdings_[job.slot];
  charts_->efficiency.end(now_, job.slot);
  set_host(holding, {});
  charts_->gpus.release(now_, holding.devices);
  spans_.add(event.job, holding.devices, holding.since, now_);
  holdings_.close(job.slot);
  job.slot = kNoSlot;
}

void SeriesRecorder::set_host(Holding& holding, const HostShare& host) {
  charts_->host.change(now_, holding.host, host);
  holding.host = host;
}

void SeriesRecorder::set_waiting(Job& job, bool waits) {
  if (job.waits == waits) return;
  job.waits = waits;
  charts_->queue.change(now_, waits ? 1 : -1);
}

Series SeriesRecorder::series() const {
  Series out;
  if (!charts_) return out;
  Charts charts = *charts_;
  charts.queue.fill(now_, out);
  charts.gpus.fill(now_, out);
  charts.nodes.fill(now_, out);
  charts.host.fill(now_, out);
  charts.efficiency.fill(now_, out);
  charts.deadlines.fill(now_, out);
  out.refusals = refusals_;
  SpanChart spans = spans_;
  for (std::size_t i = 0; i < jobs_.size(); ++i) {
    if (jobs_[i].slot == kNoSlot) continue;
    const Holding& holding = holdings_[jobs_[i].slot];
    spans.add(static_cast<JobId>(i), holding.devices, holding.since, now_);
  }
  std::move(spans).fill(out);
  return out;
}

}  // namespace orrery
