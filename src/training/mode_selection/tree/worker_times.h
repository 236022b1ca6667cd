#pragma once

#include <deque>
#include <map>
#include <span>
#include <vector>

#include "training/sync/director.h"
#include "training/sync/topology.h"

namespace orrery {

// How long tasks of each worker take, and how long they compute, lately and before a tree began.
//
// What a merged child took itself is not known, as it waits for its parent. It is taken to be what
// it took before the tree, longer or shorter by what has changed for all workers that hand in by
// themselves (drift), if that is less. So a slow parent does not make its children stragglers.
class WorkerTimes {
 public:
  // Returns the sample with the worker's own time.
  IterationSample add(const IterationSample& sample);
  // Works through what was added, and compares with the times before `tree` began.
  void refresh(const ParentPairs& tree);
  void keep_only(std::span<const WorkerId> workers);  // ascending
  void tree_begins();

  // Workers whose tasks take more than `factor` times as long as the median; ascending.
  std::vector<WorkerId> stragglers(double factor) const;
  double median_busy_s() const;  // 0: not known

 private:
  struct Pending {
    WorkerId worker{};
    double took_s = 0, busy_s = 0;  // 0: not known
    bool merged = false;
  };
  struct Times {
    std::deque<double> took_s{}, busy_s{};
    double before_tree_s = 0;  // what it took then; 0: not known
    bool merged = false;       // the last one was
    double median_s() const;
  };
  void take_in();
  double drift_from(const ParentPairs& tree) const;
  double own_s(const Times& times) const;

  std::vector<Pending> pending_{};
  std::map<WorkerId, Times> times_{};
  double drift_ = 1;
};

}  // namespace orrery
