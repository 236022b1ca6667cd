#pragma once

#include <cstdint>
#include <string_view>

#include "base/result.h"
#include "model/cluster.h"

namespace orrery {

// One way to write a cluster down. A new one is a file with such a pair, and a line in
// cluster_spec.cc before the TOML, which takes what no other format recognises.
struct ClusterFormat {
  std::string_view name;
  bool (*recognises)(std::string_view first_line);
  Result<Cluster> (*parse)(std::string_view name, std::string_view text);
};

extern const ClusterFormat kClusterCsv;
extern const ClusterFormat kClusterIni;
extern const ClusterFormat kClusterOpenb;
extern const ClusterFormat kClusterToml;

inline constexpr double kNodeCpusMax = 100'000;
inline constexpr double kNodeMemoryMax_gb = 1'000'000;

// Refuses a node that has too few or too many GPUs.
Status check_node_gpus(std::int64_t gpus);
// Refuses a cluster that has too few or too many nodes.
Status check_node_count(std::int64_t nodes);

// The shape every node of a cluster of equal nodes has.
struct EqualNodes {
  std::int64_t switches = 1;
  std::int64_t nodes_per_switch = 0;
  Node node;
};
Result<Cluster> equal_nodes(std::string_view cluster_name, const EqualNodes& shape);

}  // namespace orrery
