#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "base/result.h"
#include "model/cluster.h"
#include "model/node_change.h"

namespace orrery {

// How many machines a zone had, at each tick from time 0 on.
struct ZoneCapacity {
  Duration tick{};
  std::vector<std::int32_t> machines{};  // not empty

  Time end() const { return Time(tick * static_cast<std::int64_t>(machines.size())); }
};

// The zone of each node from `first` on. With as many switches there as zones, a switch is a zone;
// otherwise zones are blocks of neighbours, as equal as can be.
std::vector<std::size_t> zones_of(const Cluster& cluster, std::size_t first, std::size_t zones);

// The outages of the nodes from `first` on. Of a zone with K nodes, K n / m are there while n of at
// most m machines were available, rounded down. Which ones are lost is drawn; those that are gone
// longest come first. After the end of what is known a zone has all its nodes. Fails if there are
// more zones than nodes, or if a zone never has a machine or is known for more than 100 years.
Result<std::vector<Outage>> spot_outages(std::span<const ZoneCapacity> zones,
                                         const Cluster& cluster, std::size_t first,
                                         std::uint64_t seed);

}  // namespace orrery
