#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>

#include "base/result.h"
#include "scheduling/placement/ledger.h"

namespace orrery {

// How far apart the GPUs of one job may be. A rule is first asked for the nearest scope in which
// the shape would fit an idle cluster, so that a job larger than a switch does not wait for ever.
enum class Scope : std::uint8_t { OneSwitch, WholeCluster, Anywhere };

// Chooses devices for a job among those that are free. find() only looks: it appends to `devices`
// and returns true, or leaves it as it was and returns false.
class PlacementRule {
 public:
  virtual ~PlacementRule() = default;
  virtual bool find(const Ledger& free, const Shape& shape, Scope scope, Devices& devices) = 0;
  // True if a job that would fit one node may be split over several.
  virtual bool scatters() const { return true; }
};

struct PlacementRuleInfo {
  std::string_view name;
  std::string_view line;
  std::unique_ptr<PlacementRule> (*make)(std::uint64_t seed);
};

std::span<const PlacementRuleInfo> placement_rules();
Result<std::unique_ptr<PlacementRule>> make_placement_rule(std::string_view name,
                                                           std::uint64_t seed);

// The rules, a file each.
std::unique_ptr<PlacementRule> make_consolidated(std::uint64_t seed);
std::unique_ptr<PlacementRule> make_first_fit(std::uint64_t seed);
std::unique_ptr<PlacementRule> make_best_fit(std::uint64_t seed);
std::unique_ptr<PlacementRule> make_spread(std::uint64_t seed);
std::unique_ptr<PlacementRule> make_random_fit(std::uint64_t seed);
std::unique_ptr<PlacementRule> make_topology(std::uint64_t seed);
std::unique_ptr<PlacementRule> make_buddy(std::uint64_t seed);
std::unique_ptr<PlacementRule> make_survival(std::uint64_t seed);

// Takes from the nodes in the order given, each as many GPUs as fit there, until the shape has all
// its GPUs. What the rules share.
bool gather(const Ledger& free, const Shape& shape, std::span<const int> nodes, Devices& devices);

}  // namespace orrery
