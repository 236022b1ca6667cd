#include "scheduling/placement/rule.h"

#include <algorithm>
#include <array>

#include <fmt/format.h>
#include <fmt/ranges.h>

namespace orrery {
namespace {

constexpr std::array<PlacementRuleInfo, 8> kRules = {{
    {"consolidated", "one node, or whole idle nodes under one switch, first that fits",
     make_consolidated},
    {"first-fit", "any free GPUs in node order, however scattered", make_first_fit},
    {"best-fit", "the node that is left with the fewest free GPUs; few nodes for large jobs",
     make_best_fit},
    {"spread", "one GPU after another from the emptiest nodes", make_spread},
    {"random", "nodes in a random order (seeded)", make_random_fit},
    {"topology", "as few switches as possible, then as few nodes, then the tightest",
     make_topology},
    {"buddy", "aligned blocks of powers of two within a node, whole nodes for larger jobs",
     make_buddy},
    {"survival", "long jobs on nodes that are seldom lost, large ones in one zone", make_survival},
}};

}  // namespace

std::span<const PlacementRuleInfo> placement_rules() { return kRules; }

Result<std::unique_ptr<PlacementRule>> make_placement_rule(std::string_view name,
                                                           std::uint64_t seed) {
  const auto found = std::ranges::find(kRules, name, &PlacementRuleInfo::name);
  if (found != kRules.end()) return found->make(seed);
  std::array<std::string_view, kRules.size()> names;
  std::ranges::transform(kRules, names.begin(), &PlacementRuleInfo::name);
  return invalid(
      fmt::format("there is no placement '{}'; choose one of {}", name, fmt::join(names, ", ")));
}

bool gather(const Ledger& free, const Shape& shape, std::span<const int> nodes, Devices& devices) {
  const auto before = devices.size();
  int left = shape.gpus;
  for (const int node : nodes) {
    const int count = std::min(left, free.gpus_fitting(node, shape));
    if (count == 0) continue;
    devices.push_back({static_cast<NodeId>(node), free.lowest_free(node, count)});
    left -= count;
    if (left == 0) return true;
  }
  devices.shorten(before);
  return false;
}

}  // namespace orrery
