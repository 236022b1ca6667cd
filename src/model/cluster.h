#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "model/ids.h"

namespace orrery {

inline constexpr int kGpusPerNodeMax = 64;  // a node's GPUs are the bits of one word

// What one machine has. CPU is counted in thousandths of a core, so that shares divide exactly.
struct Node {
  std::string name;
  int gpus = 0;
  std::int64_t cpu_milli = 0;
  std::int64_t memory_bytes = 0;
  std::int64_t gpu_memory_bytes = 0;  // of each GPU; 0: not known, never binding
  std::string gpu_type;               // empty: not known, serves any job
  int switch_index = 0;               // nodes of one switch stand next to each other in the list
  int zone = -1;                      // nodes of a zone are lost together; -1: it is the switch
  double losses_per_day = 0;          // as estimated
  bool open = true;                   // takes new jobs; otherwise those on it may go on
};

struct Cluster {
  std::string name;
  std::vector<Node> nodes;

  // Of the nodes that are open.
  int gpus_total() const {
    int total = 0;
    for (const Node& node : nodes) total += node.open ? node.gpus : 0;
    return total;
  }
};

}  // namespace orrery
