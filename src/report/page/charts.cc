#include "report/page/charts.h"

#include <algorithm>

namespace orrery {
namespace {

enum HostValue : std::size_t { kCpus, kMemory, kHostValues };

constexpr std::size_t kCluster = 0;  // of GpuChart's values
constexpr std::size_t kFirstRow = 1;

std::size_t nodes_per_row(std::size_t nodes, std::size_t rows_max) {
  rows_max = std::max<std::size_t>(rows_max, 1);
  return std::max<std::size_t>((nodes + rows_max - 1) / rows_max, 1);
}

std::vector<Series::Row> rows_of(const std::vector<Node>& nodes, std::size_t nodes_per_row) {
  std::vector<Series::Row> rows;
  for (std::size_t first = 0; first < nodes.size(); first += nodes_per_row) {
    const std::size_t end = std::min(first + nodes_per_row, nodes.size());
    Series::Row row;
    row.label = nodes[first].name;
    if (end - first > 1) row.label += " to " + nodes[end - 1].name;
    for (std::size_t i = first; i < end; ++i) row.gpus += nodes[i].gpus;
    rows.push_back(std::move(row));
  }
  return rows;
}

// Sums of speeds that come and go may end below 0 by the last digit.
Series::Line shares(Series::Line line, double total) {
  for (std::vector<double>* values : {&line.mean, &line.low, &line.high}) {
    for (double& value : *values) value = std::max(0.0, value / total);
  }
  return line;
}

}  // namespace

void QueueChart::change(Time now, int jobs) {
  waiting_ += jobs;
  means_.set(now, 0, static_cast<double>(waiting_));
}

void QueueChart::fill(Time now, Series& series) {
  means_.advance(now);
  series.start_s = seconds(means_.start());
  series.bucket_s = seconds(means_.width());
  series.waiting = line_of(means_, 0);
}

GpuChart::GpuChart(const ChartTime& time, const Cluster& cluster, std::size_t rows_max)
    : nodes_per_row_(nodes_per_row(cluster.nodes.size(), rows_max)),
      rows_(rows_of(cluster.nodes, nodes_per_row_)),
      row_held_(rows_.size()),
      ledger_(cluster),
      means_(time.means(kFirstRow, rows_.size())) {}

void GpuChart::take(Time now, const Devices& devices) {
  for (const NodeShare& share : devices) change(now, share.node, ledger_.take(share));
}

void GpuChart::release(Time now, const Devices& devices) {
  for (const NodeShare& share : devices) change(now, share.node, -ledger_.release(share));
}

void GpuChart::change(Time now, NodeId node, int gpus) {
  if (gpus == 0) return;
  const std::size_t row = index(node) / nodes_per_row_;
  row_held_[row] += gpus;
  held_ += gpus;
  means_.set(now, kFirstRow + row, static_cast<double>(row_held_[row]));
  means_.set(now, kCluster, static_cast<double>(held_));
}

void GpuChart::fill(Time now, Series& series) {
  means_.advance(now);
  series.gpus_held = line_of(means_, kCluster);
  series.rows = rows_;
  for (std::size_t i = 0; i < rows_.size(); ++i) {
    series.rows[i].held = means_.means(kFirstRow + i);
  }
}

HostChart::HostChart(const ChartTime& time, const Cluster& cluster)
    : means_(time.means(kHostValues)) {
  for (const Node& node : cluster.nodes) {
    total_.cpu_milli += node.cpu_milli;
    total_.memory_bytes += node.memory_bytes;
  }
}

void HostChart::change(Time now, const HostShare& before, const HostShare& after) {
  if (before == after) return;
  held_.cpu_milli += after.cpu_milli - before.cpu_milli;
  held_.memory_bytes += after.memory_bytes - before.memory_bytes;
  seen_ = true;
  means_.set(now, kCpus, static_cast<double>(held_.cpu_milli));
  means_.set(now, kMemory, static_cast<double>(held_.memory_bytes));
}

void HostChart::fill(Time now, Series& series) {
  if (!seen_) return;
  means_.advance(now);
  const auto share = [&](HostValue value, std::int64_t total) {
    return total > 0 ? shares(line_of(means_, value), static_cast<double>(total)) : Series::Line();
  };
  series.cpu_use = share(kCpus, total_.cpu_milli);
  series.memory_use = share(kMemory, total_.memory_bytes);
}

void EfficiencyChart::advance(Time now) {
  for (; !beginnings_.empty() && beginnings_.top().at <= now; beginnings_.pop()) {
    const Beginning& beginning = beginnings_.top();
    Work& work = works_[static_cast<std::size_t>(beginning.slot)];
    if (work.grant != beginning.grant) continue;
    work.begun = true;
    change(beginning.at, work.useful_gpus);
  }
}

void EfficiencyChart::begin(Time now, std::int32_t slot, Time ready, double useful_gpus) {
  if (works_.size() <= static_cast<std::size_t>(slot)) {
    works_.resize(static_cast<std::size_t>(slot) + 1);
  }
  end(now, slot);
  works_[static_cast<std::size_t>(slot)] = {.useful_gpus = useful_gpus, .grant = ++grants_};
  rates_known_ = rates_known_ && useful_gpus > 0;
  beginnings_.push({std::max(ready, now), grants_, slot});
  advance(now);
}

void EfficiencyChart::end(Time now, std::int32_t slot) {
  Work& work = works_[static_cast<std::size_t>(slot)];
  if (work.begun) change(now, -work.useful_gpus);
  work = {};
}

void EfficiencyChart::change(Time now, double gpus) {
  useful_gpus_ += gpus;
  means_.set(now, 0, useful_gpus_);
}

void EfficiencyChart::fill(Time now, Series& series) {
  if (grants_ == 0 || !rates_known_ || gpus_total_ == 0) return;
  means_.advance(now);
  series.efficiency = shares(line_of(means_, 0), gpus_total_);
}

void DeadlineChart::count(Time now, Count what) {
  means_.set(now, what, static_cast<double>(++counts_[what]));
}

void DeadlineChart::fill(Time now, Series& series) {
  if (counts_[kSubmitted] == 0) return;
  means_.advance(now);
  series.deadlines = {means_.means(kSubmitted), means_.means(kPromised), means_.means(kMet),
                      means_.means(kMissed)};
}

}  // namespace orrery
