#pragma once

#include <memory>
#include <span>
#include <utility>
#include <vector>

#include "scheduling/policy/host/host_needs.h"
#include "scheduling/policy/order/order.h"

namespace orrery {

// All live jobs in the order they are served in, ranked in each round; with their needs.
class HostLine {
 public:
  struct Entry {
    bool boosted = false;
    bool runs = false;       // after the last round
    bool may_change = true;  // its rank may be another than it was
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

  // The jobs that are tried, in the order in which they are.
  struct Asked {
    JobId job = kNoJob;
    bool chosen = false;  // there are GPUs for it, if not CPUs and memory

    bool operator==(const Asked&) const = default;
  };
  struct Choice {
    bool runners_first = false;  // running jobs come before all others
    bool only_chosen = false;
  };

  void update(const View& view);
  void choose(int gpus, const Choice& choice, std::vector<Asked>& asked) const;
  std::span<const Entry> entries() const { return line_; }
  const HostNeed& need(JobId job) const { return needs_[job]; }
  Order& order() { return *order_; }
  // The round is over: `runs` says which jobs of the line run from now on.
  template <class Runs>
  void note_round(Time now, Runs runs) {
    for (Entry& entry : line_) {
      const bool ran = std::exchange(entry.runs, runs(entry.job));
      entry.may_change = entry.runs || ran;
      if (ran && !entry.runs) ran_[index(entry.job)] = now;
    }
  }

 private:
  void boost(const View& view);

  std::unique_ptr<Order> order_;
  const Duration boost_;
  HostNeeds needs_;
  std::vector<Entry> line_;
  std::vector<Time> ran_;  // by job: when it last ran, or was submitted
  std::vector<JobId> changed_;
  std::vector<char> named_;  // by job: its order has named it
};

}  // namespace orrery
