#include "workload/outages/fault_trace.h"

#include <fmt/format.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <fstream>
#include <map>
#include <optional>

#include "workload/outages/fault_formats.h"

namespace orrery {
namespace {

// The number of the node that the text names, by name or number.
std::optional<std::size_t> node_named(const Cluster& cluster, std::string_view text) {
  const auto found = std::ranges::find(cluster.nodes, text, &Node::name);
  if (found != cluster.nodes.end()) {
    return static_cast<std::size_t>(found - cluster.nodes.begin());
  }
  const auto last = static_cast<std::int64_t>(cluster.nodes.size()) - 1;
  const auto number = parse_integer(text, 0, last);
  if (!number.ok()) return std::nullopt;
  return static_cast<std::size_t>(number.value());
}

Result<std::vector<Outage>> own_outages(const FaultTrace& trace, const Cluster& cluster) {
  std::vector<Outage> outages;
  std::map<std::string_view, std::size_t> nodes;
  for (const FaultTrace::Fault& fault : trace.faults) {
    const std::string& server = trace.servers[fault.server];
    auto known = nodes.find(server);
    if (known == nodes.end()) {
      const auto node = node_named(cluster, server);
      if (!node) {
        return invalid(fmt::format(
            "{}:{}: the cluster has no node '{}'; write the name of one, or a number from 0 to {}",
            trace.name, fault.line, server, cluster.nodes.size() - 1));
      }
      known = nodes.emplace(server, *node).first;
    }
    outages.push_back({static_cast<NodeId>(known->second), fault.from, fault.to});
  }
  return outages;
}

}  // namespace

Result<std::vector<Outage>> outages_on(const FaultTrace& trace, const Cluster& cluster,
                                       std::int64_t fleet) {
  if (trace.own) return own_outages(trace, cluster);
  const auto failing = static_cast<std::int64_t>(trace.servers.size());
  if (fleet == 0) fleet = std::max(trace.fleet, failing);
  if (fleet < failing) {
    return invalid(fmt::format("{}: {} servers failed, so there are not {}; write {} or more",
                               trace.name, failing, fleet, failing));
  }
  std::vector<Outage> outages;
  const auto nodes = static_cast<std::int64_t>(cluster.nodes.size());
  for (const FaultTrace::Fault& fault : trace.faults) {
    const std::int64_t number = static_cast<std::int64_t>(fault.server) * fleet / failing;
    for (std::int64_t node = number; node < nodes; node += fleet) {
      outages.push_back({static_cast<NodeId>(node), fault.from, fault.to});
    }
  }
  return outages;
}

Result<FaultTrace> parse_fault_trace(std::string_view name, std::istream& in) {
  LineReader lines(name, in);
  TRY_ASSIGN(const std::string_view start, lines.peek());
  const std::size_t first = start.find_first_not_of(" \t\r\n\xEF\xBB\xBF");
  if (first == std::string_view::npos) return lines.wrong_file("is empty");
  const bool json = start[first] == '[' || start[first] == '{';
  TRY_ASSIGN(FaultTrace trace, json ? read_fault_events(lines) : read_fault_table(lines));
  trace.name = name;
  for (const FaultTrace::Fault& fault : trace.faults) {
    trace.end = std::max({trace.end, fault.from, fault.to == kNever ? fault.from : fault.to});
  }
  return trace;
}

Result<FaultTrace> read_fault_trace(const std::string& path) {
  std::ifstream in(path, std::ios::binary);
  if (!in) return invalid(fmt::format("{}: cannot be opened: {}", path, std::strerror(errno)));
  return parse_fault_trace(path, in);
}

}  // namespace orrery
