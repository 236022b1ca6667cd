#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <span>
#include <string>
#include <string_view>

#include "base/result.h"
#include "policy/options.h"
#include "policy/policy.h"
#include "predict/group_speed.h"

namespace orrery {

// What a policy is built from besides its own options.
struct PolicyContext {
  const Workload& workload;
  Defaults defaults = Defaults::Ours;
  std::uint64_t seed = 0;
  Duration round{};                 // how far apart rounds are held; 0: whenever something happens
  ContentionModel contention = {};  // by how much jobs on the same devices slow each other down
};

struct PolicyInfo {
  std::string_view name;
  std::string_view line;  // one sentence for `orrery policies`
  std::span<const OptionInfo> options;
  Result<std::unique_ptr<Policy>> (*make)(const Options& options, const PolicyContext& context);
};

// A policy and the placement rule it is to be used with.
struct PolicySetup {
  std::unique_ptr<Policy> policy;
  std::unique_ptr<PlacementRule> rule;
};

std::span<const PolicyInfo> policies();
std::span<const OptionInfo> common_options();  // those every policy takes

Result<PolicySetup> make_policy(std::string_view name,
                                const std::map<std::string, std::string>& options,
                                const PolicyContext& context);

}  // namespace orrery
