#include "workload/outages/spot_outages.h"

#include <fmt/format.h>

#include <algorithm>
#include <deque>
#include <set>

#include "base/random.h"
#include "workload/formats/row.h"

namespace orrery {
namespace {

// The nodes of one zone.
class Zone {
 public:
  Zone(std::vector<NodeId> nodes, Random& random) : up_(std::move(nodes)), random_(random) {}

  std::size_t up() const { return up_.size(); }

  void lose_one(Time now) {
    const auto last = static_cast<std::int64_t>(up_.size()) - 1;
    const auto at = static_cast<std::size_t>(random_.between(0, last));
    gone_.push_back({up_[at], now});
    up_[at] = up_.back();
    up_.pop_back();
  }
  Outage bring_back(Time now) {
    Outage outage = gone_.front();
    gone_.pop_front();
    outage.to = now;
    up_.push_back(outage.node);
    return outage;
  }
  bool is_whole() const { return gone_.empty(); }

 private:
  std::vector<NodeId> up_;
  std::deque<Outage> gone_;
  Random& random_;
};

Status check_zone(const ZoneCapacity& zone) {
  if (seconds(zone.tick) * static_cast<double>(zone.machines.size()) > kTimeMax_s) {
    return invalid("is longer than 100 years");
  }
  if (std::ranges::max(zone.machines) <= 0) {
    return invalid("no machine is available at any time, so no node would ever be there");
  }
  return {};
}

void add_outages(const ZoneCapacity& capacity, std::vector<NodeId> nodes, Random& random,
                 std::vector<Outage>& outages) {
  const auto most = static_cast<std::size_t>(std::ranges::max(capacity.machines));
  const std::size_t all = nodes.size();
  Zone zone(std::move(nodes), random);
  for (std::size_t tick = 0; tick < capacity.machines.size(); ++tick) {
    const Time now(capacity.tick * static_cast<std::int64_t>(tick));
    const std::size_t there = all * static_cast<std::size_t>(capacity.machines[tick]) / most;
    while (zone.up() > there) zone.lose_one(now);
    while (zone.up() < there) outages.push_back(zone.bring_back(now));
  }
  while (!zone.is_whole()) outages.push_back(zone.bring_back(capacity.end()));
}

}  // namespace

std::vector<std::size_t> zones_of(const Cluster& cluster, std::size_t first, std::size_t zones) {
  std::vector<std::size_t> out;
  std::set<int> switches;
  for (std::size_t node = first; node < cluster.nodes.size(); ++node) {
    switches.insert(cluster.nodes[node].switch_index);
  }
  const std::size_t nodes = cluster.nodes.size() - first;
  for (std::size_t i = 0; i < nodes; ++i) {
    const auto found = switches.find(cluster.nodes[first + i].switch_index);
    out.push_back(switches.size() == zones
                      ? static_cast<std::size_t>(std::distance(switches.begin(), found))
                      : i * zones / nodes);
  }
  return out;
}

Result<std::vector<Outage>> spot_outages(std::span<const ZoneCapacity> zones,
                                         const Cluster& cluster, std::size_t first,
                                         std::uint64_t seed) {
  const std::size_t nodes = cluster.nodes.size() - std::min(first, cluster.nodes.size());
  if (nodes < zones.size()) {
    return invalid(fmt::format("{} zones for {} nodes that are not on-demand; name fewer zones",
                               zones.size(), nodes));
  }
  const std::vector<std::size_t> zone_of = zones_of(cluster, first, zones.size());
  Random random(seed);
  std::vector<Outage> outages;
  for (std::size_t z = 0; z < zones.size(); ++z) {
    TRY(check_zone(zones[z]));
    std::vector<NodeId> there;
    for (std::size_t i = 0; i < zone_of.size(); ++i) {
      if (zone_of[i] == z) there.push_back(static_cast<NodeId>(first + i));
    }
    add_outages(zones[z], std::move(there), random, outages);
  }
  return outages;
}

}  // namespace orrery
