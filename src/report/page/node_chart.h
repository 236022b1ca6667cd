#pragma once

#include <cstdint>
#include <vector>

#include "model/cluster.h"
#include "model/event.h"
#include "report/page/chart_time.h"
#include "report/page/series.h"

namespace orrery {

// The GPUs of the nodes that are there.
class NodeChart {
 public:
  NodeChart(const ChartTime& time, const Cluster& cluster);
  void change(Time now, const Event& event);
  void fill(Time now, Series& series);

 private:
  std::vector<int> gpus_;  // by node
  std::vector<bool> lost_;
  std::int64_t up_ = 0;
  bool seen_ = false;  // some node was lost
  TimeMeans means_;
};

}  // namespace orrery
