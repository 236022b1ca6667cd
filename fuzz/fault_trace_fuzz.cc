#include <cstdint>
#include <sstream>
#include <string>

#include "base/invariant.h"
#include "workload/outages/fault_trace.h"

using namespace orrery;

// Whatever the bytes are, they are read or refused; the changes of nodes that were read are in
// order, and no node is lost twice.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  std::istringstream in(std::string(reinterpret_cast<const char*>(data), size));
  const auto trace = parse_fault_trace("fuzz", in);
  if (!trace.ok()) {
    INVARIANT(trace.error().code == Code::InvalidArgument, trace.error().message.c_str());
    return 0;
  }
  Cluster cluster;
  cluster.nodes.resize(5);
  const auto outages = outages_on(trace.value(), cluster);
  if (!outages.ok()) return 0;
  std::vector<bool> lost(cluster.nodes.size());
  Time last{};
  for (const NodeChange& change : node_changes(outages.value(), std::chrono::minutes(2))) {
    INVARIANT(change.at >= last, "changes are in order of time");
    INVARIANT(index(change.node) < lost.size(), "nodes are those of the cluster");
    last = change.at;
    INVARIANT(lost[index(change.node)] == (change.kind == EventKind::NodeBack),
              "a node is lost while it is there, and comes back while it is lost");
    if (change.kind != EventKind::NodeWarned) {
      lost[index(change.node)] = change.kind == EventKind::NodeLost;
    }
  }
  return 0;
}
