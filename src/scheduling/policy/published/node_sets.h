#pragma once

#include <map>
#include <vector>

#include "model/cluster.h"
#include "model/grant.h"

namespace orrery {

// Gandiva's sets of nodes as ElasticFlow's simulator has them: a set serves jobs of one size, the
// first of which hold its GPUs while the others wait for a time slice.
//
// Kept to the letter of that simulator: a set never takes the last job that would fit while there
// are idle nodes; how full a set is counts those who left; and sets that were grown are sometimes
// filled and sometimes not.
class NodeSets {
 public:
  struct Set {
    std::vector<int> nodes;
    std::vector<JobId> jobs;
    int capacity = 0;  // jobs at a time
    int load = 0;      // jobs it was given, even if they have left

    std::size_t holders() const {  // how many of its jobs hold GPUs
      return std::min(jobs.size(), static_cast<std::size_t>(capacity));
    }
  };
  using Sets = std::vector<Set>;

  explicit NodeSets(const Cluster& cluster);

  // Answers false where there is no set of its size and too few idle nodes for one.
  bool add(JobId job, int gpus);
  // Jobs that `ended` names leave; before that, if `rotates`, those that hold GPUs go behind those
  // that wait. Answers whether nodes became idle.
  template <class Ended>
  bool leave(const Ended& ended, bool rotates) {
    bool released = false;
    for (auto& [gpus, sets] : sets_) {
      for (Set& set : sets) {
        if (rotates) rotate(set);
        std::erase_if(set.jobs, ended);
        released = release_if_empty(set) || released;
      }
      std::erase_if(sets, [](const Set& set) { return set.nodes.empty(); });
    }
    return released;
  }
  // Gives every size its part of the nodes, by the GPUs its jobs ask for.
  void adjust();

  const std::map<int, Sets>& by_size() const { return sets_; }
  void devices(const Set& set, int gpus, std::size_t place, Devices& devices) const;

  // True if all nodes have as many GPUs, which it takes for granted.
  static bool serves(const Cluster& cluster);

 private:
  int nodes_for(int gpus) const { return (gpus + gpus_per_node_ - 1) / gpus_per_node_; }
  bool open(Sets& sets, int gpus);
  void grow(Sets& sets, int gpus, int count);
  void shrink(Sets& sets, int count);
  static void rotate(Set& set);
  bool release_if_empty(Set& set);

  const int nodes_total_;
  const int gpus_per_node_;
  std::vector<int> idle_nodes_;  // in the order in which they are used
  std::map<int, Sets> sets_;     // by the number of GPUs of their jobs
};

}  // namespace orrery
