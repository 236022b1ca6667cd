#pragma once

#include <string>
#include <string_view>

#include "base/result.h"
#include "model/cluster.h"

namespace orrery {

inline constexpr int kClusterNodesMax = 1'000'000;

// Reads what machines there are: a file that exists (a CSV spec with num_switch, num_node_p_switch,
// num_gpu_p_node, num_cpu_p_node and mem_p_node, an INI with a section [CLUSTER], Alibaba's list of
// nodes, or our TOML), or else the short form 16x8 (nodes x GPUs) or 2x16x8 (switches x nodes each
// x GPUs), which has 8 CPUs and 32 GB for each GPU. Nodes of one switch stand together, and
// switches are numbered from 0. Bad input is InvalidArgument with the file, the line and what is
// wrong.
Result<Cluster> read_cluster(const std::string& path_or_short_form);

// The same from the text of such a file; `name` stands where the path would in messages.
Result<Cluster> parse_cluster(std::string_view name, std::string_view text);

}  // namespace orrery
