#pragma once

#include <array>
#include <cstdint>
#include <functional>
#include <queue>
#include <vector>

#include "base/sparse_table.h"
#include "model/cluster.h"
#include "model/event.h"
#include "model/sensitivity.h"
#include "report/metrics/device_ledger.h"
#include "report/page/chart_time.h"
#include "report/page/series.h"

// One recorder for each chart of the report. Each is given what changes, at times that do not
// decrease, and writes its part of the series, up to the time it is asked for.

namespace orrery {

// The number of waiting jobs, and the buckets of all charts.
class QueueChart {
 public:
  explicit QueueChart(const ChartTime& time) : means_(time.means(1)) {}
  void change(Time now, int jobs);
  void fill(Time now, Series& series);

 private:
  std::int64_t waiting_ = 0;
  TimeMeans means_;
};

// The GPUs held, of the cluster and of each row. A row is a node, or several neighbours where the
// cluster has more than `rows_max` nodes.
class GpuChart {
 public:
  GpuChart(const ChartTime& time, const Cluster& cluster, std::size_t rows_max);
  void take(Time now, const Devices& devices);
  void release(Time now, const Devices& devices);
  void fill(Time now, Series& series);

 private:
  void change(Time now, NodeId node, int gpus);

  const std::size_t nodes_per_row_;
  std::vector<Series::Row> rows_;  // labels and sizes
  std::vector<std::int64_t> row_held_;
  std::int64_t held_ = 0;
  DeviceLedger ledger_;
  TimeMeans means_;  // the whole cluster, then each row
};

// CPUs and memory held, as shares of those the cluster has.
class HostChart {
 public:
  HostChart(const ChartTime& time, const Cluster& cluster);
  void change(Time now, const HostShare& before, const HostShare& after);
  void fill(Time now, Series& series);

 private:
  HostShare total_{};
  HostShare held_{};
  bool seen_ = false;  // some grant held CPUs or memory
  TimeMeans means_;
};

// The share of the GPUs that advance a job. A grant advances its job from its first iteration on,
// for which no event is sent; so advance() comes before anything else that happens at a time.
class EfficiencyChart {
 public:
  EfficiencyChart(const ChartTime& time, int gpus_total)
      : gpus_total_(gpus_total), means_(time.means(1)) {}
  void advance(Time now);
  // The grant in `slot` has its first iteration at `ready`. It replaces another in this slot.
  void begin(Time now, std::int32_t slot, Time ready, double useful_gpus);
  void end(Time now, std::int32_t slot);
  void fill(Time now, Series& series);

 private:
  struct Work {
    double useful_gpus = 0;
    std::uint64_t grant = 0;  // 0: it has ended
    bool begun = false;
  };
  struct Beginning {
    Time at{};
    std::uint64_t grant = 0;
    std::int32_t slot = kNoSlot;
    bool operator>(const Beginning& other) const {
      return at != other.at ? at > other.at : grant > other.grant;
    }
  };

  void change(Time now, double gpus);

  const int gpus_total_;
  std::vector<Work> works_;  // by slot
  std::priority_queue<Beginning, std::vector<Beginning>, std::greater<>> beginnings_;
  std::uint64_t grants_ = 0;
  double useful_gpus_ = 0;
  bool rates_known_ = true;
  TimeMeans means_;
};

// Jobs with a deadline, by what became of them.
class DeadlineChart {
 public:
  enum Count : std::size_t { kSubmitted, kPromised, kMet, kMissed, kCounts };

  explicit DeadlineChart(const ChartTime& time) : means_(time.means(0, kCounts)) {}
  void count(Time now, Count what);
  void fill(Time now, Series& series);

 private:
  std::array<std::int64_t, kCounts> counts_{};
  TimeMeans means_;
};

}  // namespace orrery
