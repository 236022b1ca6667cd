#pragma once

#include <cstdint>
#include <set>
#include <span>
#include <tuple>
#include <vector>

#include "base/sparse_table.h"
#include "scheduling/placement/packer.h"
#include "scheduling/policy/order/order.h"

namespace orrery {

// Running jobs that could be stopped so that a job of better rank fits.
//
// They are kept in the order of their standing, one sequence for each number of GPUs, so that the
// last in line are found without a look at the others. They are put there at the next search: most
// jobs end before one.
class PreemptionCandidates {
 public:
  void begin(const Packer& packer);

  void add(const View& view, const Order& order, JobId job);  // one that runs
  void remove(JobId job);
  bool has(JobId job) const { return entries_.has(job); }

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
    std::uint64_t pending = 0;  // the number by which it is pending; 0: it is in its sequence
  };
  struct Pending {
    JobId job = kNoJob;
    std::uint64_t number = 0;
  };
  using Key = std::tuple<Rank, JobId>;
  struct Sequence {
    int gpus = 0;
    std::set<Key> jobs;
  };

  bool is_pending(const Pending& one) const {
    return has(one.job) && entries_[one.job].pending == one.number;
  }
  void enter_sequences();
  template <class Visit>
  void for_each_from_the_last(const View& view, const Order& order, const Rank& rank, Visit visit);
  bool clear_node(const View& view, const Order& order, Packer& packer, const Request& request,
                  NodeId node, Devices& devices);
  bool clear_many(const View& view, const Order& order, Packer& packer, const Request& request,
                  Devices& devices);
  bool keep_the_unneeded(const View& view, Packer& packer);
  int clearable(const View& view, const Order& order, const Ledger& ledger, const Rank& rank,
                NodeId node) const;

  SparseTable<JobId, Entry> entries_;
  std::size_t count_ = 0;         // of entries
  std::vector<Pending> pending_;  // some are stale
  std::uint64_t number_ = 0;      // of the last that became pending
  std::vector<Sequence> sequences_;
  std::vector<std::pair<Rank, JobId>> behind_;
  std::vector<JobId> stopped_;
  std::vector<int> gain_;
  std::vector<NodeId> gained_;
};

}  // namespace orrery
