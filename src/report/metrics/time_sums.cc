#include "report/metrics/time_sums.h"

#include <algorithm>

namespace orrery {
namespace {

double span_of(Time from, Time until) { return static_cast<double>((until - from).count()); }

}  // namespace

TimeSums::TimeSums(const Cluster& cluster) : gpus_total_(cluster.gpus_total()), ledger_(cluster) {
  for (const Node& node : cluster.nodes) {
    host_total_.cpu_milli += node.cpu_milli;
    host_total_.memory_bytes += node.memory_bytes;
  }
}

// The queue's maximum is taken here too: a job that is submitted and started in the same instant
// has never stood in it.
void TimeSums::advance(Time now) {
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

void TimeSums::begin(Time now) {
  if (!first_submission_) first_submission_ = now;
  if (now == last_submission_) return;
  last_submission_ = now;
  held_while_arriving_ = sums_.held;
  useful_while_arriving_ = sums_.useful;
}

void TimeSums::end(Time now) {
  last_end_ = now;
  sums_at_last_end_ = sums_;
}

void TimeSums::hold(const Event& event, double useful_gpus, Holding& holding) {
  holding.devices.assign(event.grant->devices.begin(), event.grant->devices.end());
  holding.since = event.time;
  holding.ready = std::max(event.ready, event.time);
  holding.useful_gpus = useful_gpus;
  for (const NodeShare& share : holding.devices) gpus_held_ += ledger_.take(share);
  holding.host = {event.grant->cpu_milli, event.grant->memory_bytes};
  host_held_.cpu_milli += holding.host.cpu_milli;
  host_held_.memory_bytes += holding.host.memory_bytes;
  host_seen_ = host_seen_ || holding.host != HostShare{};
  grants_seen_ = true;
  rates_known_ = rates_known_ && useful_gpus > 0;
  // Nothing useful happens before the first iteration. That loss is subtracted in advance, and
  // release() adds what of it did not come true; so no event is needed at `ready`.
  useful_gpus_ += useful_gpus;
  sums_.useful -= useful_gpus * static_cast<double>((holding.ready - event.time).count());
}

void TimeSums::release(Time now, const Holding& holding) {
  for (const NodeShare& share : holding.devices) gpus_held_ -= ledger_.release(share);
  host_held_.cpu_milli -= holding.host.cpu_milli;
  host_held_.memory_bytes -= holding.host.memory_bytes;
  useful_gpus_ -= holding.useful_gpus;
  useful_while_arriving_ += starting_at_last_submission(holding);
  if (holding.ready > now) {
    sums_.useful += holding.useful_gpus * static_cast<double>((holding.ready - now).count());
  }
}

void TimeSums::add_figures(RunSummary& summary, double starting) const {
  if (!first_submission_) return;
  const bool efficiency_known = grants_seen_ && rates_known_;
  const double arriving = gpus_total_ * span_of(*first_submission_, last_submission_);
  if (arriving > 0) {
    summary.arrivals_gpu_utilisation = held_while_arriving_ / arriving;
    const double useful = std::max(0.0, useful_while_arriving_ + starting);
    if (efficiency_known) summary.arrivals_cluster_efficiency = useful / arriving;
  }
  if (!last_end_) return;
  summary.max_queue = sums_at_last_end_.waiting_max;
  const double span = span_of(*first_submission_, *last_end_);
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
  if (efficiency_known) {
    summary.cluster_efficiency = std::max(0.0, sums_at_last_end_.useful / capacity);
  }
}

}  // namespace orrery
