#pragma once

#include <set>
#include <span>
#include <tuple>
#include <vector>

#include "scheduling/placement/packer.h"
#include "scheduling/policy/order/order.h"

namespace orrery {

// Running jobs that could be stopped so that a job of better rank fits.
//
// They are kept in the order of their standing, one sequence for each number of GPUs, so that the
// last in line are found without a look at the others.
class PreemptionCandidates {
 public:
  void begin(const View& view, const Packer& packer);

  void add(const View& view, const Order& order, JobId job);  // one that runs
  void remove(JobId job);
  bool has(JobId job) const { return index(job) < entries_.size() && entries_[index(job)].listed; }

  struct Request {
    ShapeId shape{};
    Rank rank;
  };
  // Stops jobs that rank behind the request, the last in line first. On success the ledger holds
  // `devices` for the request, and no longer those of `stopped`. Otherwise nothing changes. Looks
  // at all nodes, or only at those given.
  bool find(const View& view, const Order& order, Packer& packer, const Request& request,
            Devices& devices);
  bool find_on(const View& view, const Order& order, Packer& packer, const Request& request,
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
  void for_each_from_the_last(const View& view, const Order& order, const Rank& rank, Visit visit);
  bool clear_node(const View& view, const Order& order, Packer& packer, const Request& request,
                  NodeId node, Devices& devices);
  bool clear_many(const View& view, const Order& order, Packer& packer, const Request& request,
                  Devices& devices);
  bool keep_the_unneeded(const View& view, Packer& packer);
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
