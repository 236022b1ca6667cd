#include <cstdint>
#include <sstream>
#include <string>

#include "base/invariant.h"
#include "workload/outages/spot_trace.h"

using namespace orrery;

// Whatever the bytes are, they are read or refused; a node that was read comes back after it is
// lost.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  std::istringstream in(std::string(reinterpret_cast<const char*>(data), size));
  const auto trace = parse_spot_trace("fuzz", in);
  if (!trace.ok()) {
    INVARIANT(trace.error().code == Code::InvalidArgument, trace.error().message.c_str());
    return 0;
  }
  Cluster cluster;
  cluster.nodes.resize(5);
  const auto outages = outages_on({&trace.value(), 1}, cluster, 1, 1);
  INVARIANT(outages.ok(), "there are more nodes than zones");
  for (const Outage& outage : outages.value()) {
    INVARIANT(index(outage.node) >= 1 && index(outage.node) < 5, "on-demand nodes stay");
    INVARIANT(outage.from < outage.to && outage.to <= trace.value().end(), "all come back");
  }
  return 0;
}
