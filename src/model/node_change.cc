#include "model/node_change.h"

#include <algorithm>
#include <tuple>

namespace orrery {
namespace {

std::vector<Outage> merged(std::vector<Outage> outages) {
  std::erase_if(outages, [](const Outage& outage) { return outage.to <= outage.from; });
  std::ranges::sort(outages, [](const Outage& a, const Outage& b) {
    return std::tuple(a.node, a.from, a.to) < std::tuple(b.node, b.from, b.to);
  });
  std::vector<Outage> out;
  for (const Outage& outage : outages) {
    if (!out.empty() && out.back().node == outage.node && outage.from <= out.back().to) {
      out.back().to = std::max(out.back().to, outage.to);
    } else {
      out.push_back(outage);
    }
  }
  return out;
}

}  // namespace

std::vector<NodeChange> node_changes(std::vector<Outage> outages, Duration notice) {
  std::vector<NodeChange> changes;
  const Outage* before = nullptr;
  const std::vector<Outage> all = merged(std::move(outages));
  for (const Outage& outage : all) {
    const bool same = before != nullptr && before->node == outage.node;
    const Time up_since = same ? before->to : Time();
    if (notice > Duration::zero() && outage.from > up_since) {
      changes.push_back(
          {std::max(up_since, outage.from - notice), EventKind::NodeWarned, outage.node});
    }
    changes.push_back({outage.from, EventKind::NodeLost, outage.node});
    if (outage.to != kNever) changes.push_back({outage.to, EventKind::NodeBack, outage.node});
    before = &outage;
  }
  // Of one instant and node, what comes back comes first: it may be warned at once.
  const auto rank = [](EventKind kind) { return kind == EventKind::NodeBack ? 0 : 1; };
  std::ranges::stable_sort(changes, [&](const NodeChange& a, const NodeChange& b) {
    return std::tuple(a.at, a.node, rank(a.kind)) < std::tuple(b.at, b.node, rank(b.kind));
  });
  return changes;
}

}  // namespace orrery
