#pragma once

#include <deque>
#include <map>
#include <vector>

#include "scheduling/policy/host/host_allocator.h"
#include "scheduling/policy/host/host_fill.h"

namespace orrery {

// Which jobs are on which node, while that is decided: a node is worth as much as the speed
// its jobs can have together. GPUs are taken in the ledger at once; CPUs and memory only when all
// is decided.
class HostNodes {
 public:
  struct Request {
    const HostAllocator::Asker* asker = nullptr;
    const HostLevels* levels = nullptr;
    Devices devices;
    HostShare held;              // set by settle()
    bool below_fastest = false;  // would be faster with more than it has now

    int node() const { return static_cast<int>(devices.front().node); }
    bool on_one_node() const { return devices.size() == 1; }
  };
  struct Load {
    HostShare capacity;         // less what jobs on several nodes hold
    std::vector<int> requests;  // jobs on this node alone
    double value = 0;
    HostShare rest;  // when it is filled
  };

  void begin(Ledger& ledger);
  const std::vector<Request>& requests() const { return requests_; }
  const Load& load(int node) const { return nodes_[static_cast<std::size_t>(node)]; }
  int count() const { return static_cast<int>(nodes_.size()); }

  // The asker comes to devices that are taken in the ledger; false if not even the floors fit.
  bool come(const HostAllocator::Asker& asker, const Devices& devices);
  void leave(int request);  // and its devices are free; it keeps its number
  void come_back(int request, const Devices& devices);

  // What the node would be worth without one and with another; kNone: as it is. Less than 0 if
  // not even the floors fit.
  static constexpr int kNone = -1;
  double value_with(int node, int without, int with);
  // The same with a job that is no request yet.
  double value_with(int node, const HostAllocator::Asker& asker);

  // For how many GPUs of the asker there are floors left on the node, if not GPUs.
  int floors_for(int node, const HostAllocator::Asker& asker);

  void settle();  // gives every job what it holds

 private:
  const HostLevels& levels_of(const HostAllocator::Asker& asker);
  void gather(const Load& load, int without);
  void refill(int node);
  void raise_those_on_several_nodes();

  Ledger* ledger_ = nullptr;
  std::vector<Request> requests_;
  std::vector<Load> nodes_;
  std::vector<HostFill::Member> members_;
  HostFill fill_;
  HostShare largest_;  // of all nodes
  std::map<std::pair<SensitivityId, int>, HostLevels> levels_;
  std::deque<HostLevels> own_levels_;  // of jobs whose speed depends on nothing
};

}  // namespace orrery
