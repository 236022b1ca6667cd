#pragma once

#include <map>
#include <vector>

#include "model/cluster.h"
#include "model/grant.h"

namespace orrery {

// Lays jobs out over empty nodes as ElasticFlow's simulator does: whole nodes for the large, and
// for the small the node whose free GPUs are just as many, or else the one filed under the most.
// Asked for powers of two, the largest first, it never fragments.
class NodeFill {
 public:
  explicit NodeFill(const Cluster& cluster);

  void clear();  // all nodes are empty
  // Answers false where there is no room.
  bool place(int gpus, Devices& devices);

  // Whether all nodes have as many GPUs, which it takes for granted.
  static bool serves(const Cluster& cluster);

 private:
  struct Set {
    std::vector<int> nodes;
    int used = 0;
  };
  using File = std::vector<std::size_t>;  // sets, the emptiest first

  int size_of(const Set& set) const { return static_cast<int>(set.nodes.size()) * gpus_per_node_; }
  bool place_in_first(File& file, int gpus, Devices& devices);
  void put_in(std::size_t set, int gpus, File& own, Devices& devices);
  void sort(File& file);
  File* file_for(int free);

  const int nodes_total_;
  const int gpus_per_node_;
  std::vector<int> free_nodes_;  // descending
  std::vector<Set> sets_;
  std::map<int, File> files_;  // by the number of GPUs that fit exactly
};

}  // namespace orrery
