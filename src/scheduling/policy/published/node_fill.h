#pragma once

#include <cstddef>
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
  // False if the job does not fit.
  bool place(int gpus, Devices& devices);

  // True if all nodes have as many GPUs, which it takes for granted.
  static bool serves(const Cluster& cluster);

 private:
  struct Set {
    int first = 0;  // of its nodes, which stand next to each other
    int nodes = 0;
    int used = 0;
  };
  using File = std::vector<std::size_t>;  // sets, the emptiest first
  struct Drawer {
    int gpus = 0;  // that fit exactly
    File file;
  };

  int size_of(const Set& set) const { return set.nodes * gpus_per_node_; }
  std::size_t drawer_of(int gpus);
  bool place_in_first(std::size_t drawer, int gpus, std::size_t own, Devices& devices);
  void put_in(std::size_t set, int gpus, std::size_t own, Devices& devices);
  void sort(File& file);
  std::size_t drawer_for(int free) const;

  const int nodes_total_;
  const int gpus_per_node_;
  int next_node_ = 0;  // the first that is empty
  std::vector<Set> sets_;
  std::vector<Drawer> drawers_;  // rising
};

}  // namespace orrery
