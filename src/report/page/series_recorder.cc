#include "report/page/series_recorder.h"

#include <algorithm>

#include "base/invariant.h"
#include "report/metrics/useful_work.h"

namespace orrery {
namespace {

// The places of TimeMeans; the rows follow.
constexpr std::size_t kWaiting = 0;
constexpr std::size_t kGpusHeld = 1;
constexpr std::size_t kUseful = 2;
constexpr std::size_t kSubmitted = 3;
constexpr std::size_t kPromised = 4;
constexpr std::size_t kMet = 5;
constexpr std::size_t kMissed = 6;
constexpr std::size_t kCpus = 7;
constexpr std::size_t kMemory = 8;
constexpr std::size_t kFirstRow = 9;

std::vector<double> shares(std::vector<double> values, std::int64_t total) {
  for (double& value : values) value /= static_cast<double>(total);
  return values;
}

}  // namespace

SeriesRecorder::SeriesRecorder(const SeriesOptions& options)
    : workload_(options.workload),
      spans_max_(options.spans_max),
      refusals_max_(options.refusals_max),
      gpus_total_(options.cluster.gpus_total()),
      ledger_(options.cluster) {
  const std::vector<Node>& nodes = options.cluster.nodes;
  for (const Node& node : nodes) {
    host_total_.cpu_milli += node.cpu_milli;
    host_total_.memory_bytes += node.memory_bytes;
  }
  const std::size_t rows_max = std::max<std::size_t>(options.rows_max, 1);
  nodes_per_row_ = std::max<std::size_t>((nodes.size() + rows_max - 1) / rows_max, 1);
  for (std::size_t first = 0; first < nodes.size(); first += nodes_per_row_) {
    const std::size_t end = std::min(first + nodes_per_row_, nodes.size());
    Series::Row row;
    row.label = nodes[first].name;
    if (end - first > 1) row.label += " to " + nodes[end - 1].name;
    for (std::size_t i = first; i < end; ++i) row.gpus += nodes[i].gpus;
    rows_.push_back(std::move(row));
  }
  row_held_.assign(rows_.size(), 0);
  spans_kept_ = nodes_per_row_ == 1 && options.cluster.gpus_total() <= options.spans_gpus_max;
}

void SeriesRecorder::write(const Event& event) {
  if (!means_) means_.emplace(event.time, kFirstRow + rows_.size());
  let_work_begin(event.time);
  means_->advance(event.time);
  now_ = event.time;
  if (index(event.job) >= jobs_.size()) jobs_.resize(index(event.job) + 1);
  Job& job = jobs_[index(event.job)];
  switch (event.kind) {
    case EventKind::Submitted:
      job.submitted = event.spec->submitted;
      job.deadline = event.spec->deadline.value_or(kNever);
      job.iteration_gpu_s = gpu_s_of_iteration(workload_, *event.spec);
      job.curve = event.spec->curve;
      set_waiting(job, true);
      if (job.deadline != kNever) count(kSubmitted);
      if (spans_kept_ && index(event.job) < spans_max_) {
        span_jobs_.resize(std::max(span_jobs_.size(), index(event.job) + 1));
        span_jobs_[index(event.job)] = {
            event.spec->name,
            workload_ == nullptr ? "" : std::string(workload_->name_of(event.spec->model)),
            event.spec->gpus};
      }
      break;
    case EventKind::Admitted:
      if (!job.promised && job.deadline != kNever) count(kPromised);
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
      let_go(event, job);
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
  }
}

void SeriesRecorder::hold(const Event& event, Job& job) {
  INVARIANT(event.grant != nullptr, "an event that starts or changes a grant carries it");
  set_waiting(job, false);
  if (job.slot == kNoSlot || holdings_[job.slot].devices != event.grant->devices) {
    let_go(event, job);
    job.slot = holdings_.open();
    Holding& holding = holdings_[job.slot];
    holding.devices.assign(event.grant->devices.begin(), event.grant->devices.end());
    holding.since = event.time;
    for (const NodeShare& share : holding.devices) change_row(share.node, ledger_.take(share));
  }
  set_host(holdings_[job.slot], {event.grant->cpu_milli, event.grant->memory_bytes});
  begin_work(event, job);
}

void SeriesRecorder::begin_work(const Event& event, Job& job) {
  Holding& holding = holdings_[job.slot];
  end_work(holding);
  holding.useful_gpus = iterations_per_s(workload_, job.curve, *event.grant) * job.iteration_gpu_s;
  holding.turn = ++turns_;
  rates_known_ = rates_known_ && holding.useful_gpus > 0;
  beginnings_.push({event.ready, holding.turn, job.slot});
  let_work_begin(event.time);
}

void SeriesRecorder::end_work(Holding& holding) {
  if (holding.works) change_useful(-holding.useful_gpus);
  holding.works = false;
  holding.turn = 0;
}

// Nobody says when a start-up is over, so it is looked up whenever something else happens.
void SeriesRecorder::let_work_begin(Time now) {
  for (; !beginnings_.empty() && beginnings_.top().at <= now; beginnings_.pop()) {
    Holding& holding = holdings_[beginnings_.top().slot];
    if (holding.turn != beginnings_.top().turn) continue;
    means_->advance(beginnings_.top().at);
    holding.works = true;
    change_useful(holding.useful_gpus);
  }
}

void SeriesRecorder::change_useful(double gpus) {
  useful_gpus_ += gpus;
  means_->set(kUseful, useful_gpus_);
}

void SeriesRecorder::count(std::size_t value) {
  means_->set(value, static_cast<double>(++counts_[value - kSubmitted]));
}

void SeriesRecorder::finish(const Event& event, Job& job) {
  let_go(event, job);
  set_waiting(job, false);
  if (job.deadline == kNever) return;
  const bool met = event.kind == EventKind::Completed && event.finished <= job.deadline;
  count(met ? kMet : kMissed);
}

void SeriesRecorder::refuse(const Event& event) {
  if (refusals_.size() >= refusals_max_) return;
  const bool listed = workload_ != nullptr && index(event.job) < workload_->jobs.size();
  const JobSpec* spec = listed ? &workload_->jobs[index(event.job)] : nullptr;
  refusals_.push_back({spec == nullptr ? "#" + std::to_string(index(event.job)) : spec->name,
                       spec == nullptr ? 0 : spec->gpus, seconds(event.time), text(event.reason)});
}

void SeriesRecorder::let_go(const Event& event, Job& job) {
  if (job.slot == kNoSlot) return;
  Holding& holding = holdings_[job.slot];
  end_work(holding);
  set_host(holding, {});
  for (const NodeShare& share : holding.devices) change_row(share.node, -ledger_.release(share));
  add_spans(event.job, holding, event.time);
  holdings_.close(job.slot);
  job.slot = kNoSlot;
}

void SeriesRecorder::change_row(NodeId node, int gpus) {
  if (gpus == 0) return;
  const std::size_t row = index(node) / nodes_per_row_;
  row_held_[row] += gpus;
  gpus_held_ += gpus;
  means_->set(kFirstRow + row, static_cast<double>(row_held_[row]));
  means_->set(kGpusHeld, static_cast<double>(gpus_held_));
}

void SeriesRecorder::set_host(Holding& holding, const HostShare& host) {
  if (holding.host == host) return;
  host_held_.cpu_milli += host.cpu_milli - holding.host.cpu_milli;
  host_held_.memory_bytes += host.memory_bytes - holding.host.memory_bytes;
  holding.host = host;
  host_seen_ = true;
  means_->set(kCpus, static_cast<double>(host_held_.cpu_milli));
  means_->set(kMemory, static_cast<double>(host_held_.memory_bytes));
}

void SeriesRecorder::set_waiting(Job& job, bool waits) {
  if (job.waits == waits) return;
  job.waits = waits;
  waiting_ += waits ? 1 : -1;
  means_->set(kWaiting, static_cast<double>(waiting_));
}

void SeriesRecorder::add_spans(JobId job, const Holding& holding, Time end) {
  if (!spans_kept_ || end <= holding.since) return;
  if (spans_.size() + holding.devices.size() > spans_max_ || index(job) >= spans_max_) {
    spans_kept_ = false;
    spans_ = {};
    span_jobs_ = {};
    return;
  }
  for (const NodeShare& share : holding.devices) {
    spans_.push_back({static_cast<std::int32_t>(job), share.node, share.gpus,
                      seconds(holding.since), seconds(end)});
  }
}

Series SeriesRecorder::series() const {
  Series out;
  if (!means_) return out;
  out.start_s = seconds(means_->start());
  out.bucket_s = seconds(means_->width());
  out.waiting = means_->means(kWaiting);
  out.gpus_held = means_->means(kGpusHeld);
  out.rows = rows_;
  for (std::size_t i = 0; i < out.rows.size(); ++i) {
    out.rows[i].held = means_->means(kFirstRow + i);
  }
  out.refusals = refusals_;
  if (turns_ > 0 && rates_known_ && gpus_total_ > 0) {
    out.efficiency = means_->means(kUseful);
    for (double& value : out.efficiency) value = std::max(0.0, value / gpus_total_);
  }
  if (host_seen_ && host_total_.cpu_milli > 0) {
    out.cpu_use = shares(means_->means(kCpus), host_total_.cpu_milli);
  }
  if (host_seen_ && host_total_.memory_bytes > 0) {
    out.memory_use = shares(means_->means(kMemory), host_total_.memory_bytes);
  }
  if (counts_[0] > 0) {
    out.deadlines = {means_->means(kSubmitted), means_->means(kPromised), means_->means(kMet),
                     means_->means(kMissed)};
  }
  if (!spans_kept_) return out;
  // Jobs that still run are drawn up to now.
  SeriesRecorder ended(*this);
  for (std::size_t i = 0; i < jobs_.size(); ++i) {
    if (jobs_[i].slot == kNoSlot) continue;
    ended.add_spans(static_cast<JobId>(i), ended.holdings_[jobs_[i].slot], now_);
  }
  out.spans = std::move(ended.spans_);
  out.jobs = std::move(ended.span_jobs_);
  return out;
}

}  // namespace orrery
