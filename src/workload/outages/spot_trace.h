#pragma once

#include <cstdint>
#include <iosfwd>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "model/cluster.h"
#include "model/node_change.h"

namespace orrery {

// How many instances a zone had at each tick, as docs/formats/faults.md describes it.
struct SpotTrace {
  std::string name{};  // of the file, for messages
  Duration gap{};      // between ticks
  std::vector<std::int32_t> available{};

  Time end() const { return Time(gap * static_cast<std::int64_t>(available.size())); }
};

// Reads the published JSON. Bad input is InvalidArgument with the file, the line and what is wrong.
Result<SpotTrace> read_spot_trace(const std::string& path);
// The same from a stream; `name` stands where the path would in messages.
Result<SpotTrace> parse_spot_trace(std::string_view name, std::istream& in);

// The zone of each node from `first` on. With as many switches there as zones, a switch is a zone;
// otherwise zones are blocks of neighbours, as equal as can be.
std::vector<std::size_t> zones_of(const Cluster& cluster, std::size_t first, std::size_t zones);

// The outages of the nodes from `first` on, a trace a zone. Of a zone with K nodes, K n / m are
// there while n of at most m instances were available, rounded down. Which ones are lost is drawn;
// those that are gone longest come first. After the end of its trace a zone has all its nodes.
Result<std::vector<Outage>> outages_on(std::span<const SpotTrace> traces, const Cluster& cluster,
                                       std::size_t first, std::uint64_t seed);

}  // namespace orrery
