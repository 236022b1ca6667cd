#pragma once

#include <set>
#include <span>
#include <tuple>
#include <vector>

#include "scheduling/placement/packer.h"
#include "scheduling/policy/order/order.h"

namespace orrery {

// Who would have to stop so that a job of better rank finds room.
//
// Running jobs are kept in the order of their standing, one sequence for each number of GPUs, so
// that the last in line are found without looking at all.
class MakersOfRoom {
 public:
  void begin(const View& view, const Packer& packer);

  void add(const View& view, const Order& order, JobId job);  // it runs
  void remove(JobId job);                                     // it does not
  bool has(JobId job) const { return index(job) < entries_.size() && entries_[index(job)].listed; }

  struct Wanted {
    ShapeId shape{};
    Rank rank;
  };
  // Finds jobs that rank behind and stop as few of the better ones as can be: the last in line
  // first. On success the ledger holds the wanted job's devices and no longer those of `stopped`.
  // Otherwise nothing changes. Looks at all nodes, or only at those given.
  bool find(const View& view, const Order& order, Packer& packer, const Wanted& wanted,
            Devices& devices);
  bool find_on(const View& view, const Order& order, Packer& packer, const Wanted& wanted,
               std::span<const NodeId> nodes, Devices& devices);
  std::span<const JobId> stopped() const { return stopped_; }

 private:
  struct Entry {
    Rank standing;
    int gpus = 0;
    bool listed = false;
  };
  using Key = std::tuple<Rank, JobId>;
  struct Sequence {
    int gpus = 0;
    std::set<Key> jobs;
  };

  template <class Visit>
  void from_the_last(const View& view, const Order& order, const Rank& rank, Visit visit);
  bool clear_node(const View& view, const Order& order, Packer& packer, const Wanted& wanted,
                  NodeId node, Devices& devices);
  bool clear_many(const View& view, const Order& order, Packer& packer, const Wanted& wanted,
                  Devices& devices);
  bool keep_the_needless(const View& view, Packer& packer);
  int clearable(const View& view, const Order& order, const Ledger& ledger, const Rank& rank,
                NodeId node) const;

  std::vector<Entry> entries_;  // by job
  std::vector<Sequence> sequences_;
  std::vector<std::pair<Rank, JobId>> behind_;
  std::vector<JobId> stopped_;
  std::vector<int> gain_;
  std::vector<NodeId> gained_;
};

}  // namespace orrery
