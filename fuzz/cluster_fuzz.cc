#include <cstdint>
#include <string_view>

#include "base/invariant.h"
#include "workload/clusters/cluster_spec.h"

using namespace orrery;

// Whatever the bytes are, they are read or refused; a cluster that was read keeps what its type
// promises.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const auto cluster =
      parse_cluster("fuzz", std::string_view(reinterpret_cast<const char*>(data), size));
  if (!cluster.ok()) {
    INVARIANT(cluster.error().code == Code::InvalidArgument, cluster.error().message.c_str());
    return 0;
  }
  INVARIANT(!cluster.value().nodes.empty(), "a cluster has nodes");
  int last_switch = 0;
  for (const Node& node : cluster.value().nodes) {
    INVARIANT(node.gpus >= 1 && node.gpus <= kGpusPerNodeMax, "GPUs fit into a word");
    INVARIANT(node.cpu_milli >= 0 && node.memory_bytes >= 0, "no node has less than nothing");
    INVARIANT(node.switch_index == last_switch || node.switch_index == last_switch + 1,
              "nodes of one switch stand together");
    last_switch = node.switch_index;
  }
  return 0;
}
