#pragma once

#include <cstdint>
#include <vector>

#include "model/cluster.h"
#include "model/event.h"
#include "model/node_change.h"
#include "report/metrics/summary.h"

namespace orrery {

// Figures about nodes that come and go: GPU time that was there, useful and lost work, cost. Sums
// are over the time from the first submission to the last end of a job.
class NodeSums {
 public:
  // Reads the cluster in the constructor only.
  NodeSums(const Cluster& cluster, const FaultRules& rules);

  void advance(Time now);  // before anything that happens at `now`
  void begin(Time now);    // a job was submitted
  void end();              // a job has come to an end
  void change(const Event& event);
  // GPU seconds of work that a job has done, net of what was lost.
  void do_work(double gpu_s) { sums_.useful_gpu_s += gpu_s; }
  void lose_work(double gpu_s) {
    ++sums_.restarts;
    sums_.lost_gpu_s += gpu_s;
  }

  void add_figures(RunSummary& summary) const;

 private:
  struct Sums {
    double on_demand_gpu_s = 0;
    double spot_gpu_s = 0;
    double useful_gpu_s = 0;
    double lost_gpu_s = 0;
    double down_node_s = 0;
    std::int64_t restarts = 0;
    std::int64_t losses = 0;
  };

  bool is_spot(std::size_t node) const {
    return static_cast<std::int64_t>(node) >= rules_.on_demand_nodes;
  }

  const FaultRules rules_;
  std::vector<int> gpus_;  // by node
  std::vector<bool> lost_;
  std::int64_t on_demand_gpus_ = 0;  // that are there now
  std::int64_t spot_gpus_ = 0;
  std::int64_t nodes_down_ = 0;
  Time now_{};
  bool begun_ = false;
  Sums sums_;
  Sums sums_at_last_end_;
};

}  // namespace orrery
