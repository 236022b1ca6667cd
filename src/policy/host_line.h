#pragma once

#include <memory>
#include <span>
#include <vector>

#include "policy/host_needs.h"
#include "policy/order.h"

namespace orrery {

// All live jobs in the order they are served in, ranked anew in each round; with their needs.
class HostLine {
 public:
  struct Entry {
    bool boosted = false;
    Rank rank;
    JobId job = kNoJob;
    int gpus = 0;

    friend bool operator<(const Entry& a, const Entry& b) {
      return a.boosted != b.boosted ? a.boosted : a.rank < b.rank;
    }
  };

  // A job that has not run for longer than `boost` goes before all others from then on; 0: never.
  HostLine(std::unique_ptr<Order> order, Duration boost)
      : order_(std::move(order)), boost_(boost) {}

  void update(const View& view);
  std::span<const Entry> entries() const { return line_; }
  const HostNeed& need(JobId job) const { return needs_[job]; }
  Order& order() { return *order_; }
  // The job lets go of what it held.
  void note_stop(const View& view, JobId job) { ran_[index(job)] = view.now; }

 private:
  void boost(const View& view);

  std::unique_ptr<Order> order_;
  const Duration boost_;
  HostNeeds needs_;
  std::vector<Entry> line_;
  std::vector<Time> ran_;  // by job: when it last ran, or was submitted
  std::vector<JobId> changed_;
};

}  // namespace orrery
