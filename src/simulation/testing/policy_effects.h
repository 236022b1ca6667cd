#pragma once

#include <algorithm>
#include <map>
#include <string>
#include <string_view>

#include "base/invariant.h"
#include "scheduling/policy/registry.h"

namespace orrery {

// For tests: the entry of a policy, which may be followed by an allocator.
inline const PolicyInfo& policy_info(std::string_view policy) {
  const auto info =
      std::ranges::find(policies(), parse_policy_name(policy).base, &PolicyInfo::name);
  INVARIANT(info != policies().end(), "tests name policies of the registry");
  return *info;
}

// For tests: true if the policy may stop running jobs with these options.
inline bool may_preempt(std::string_view policy,
                        const std::map<std::string, std::string>& options) {
  const PolicyInfo& info = policy_info(policy);
  const auto option = std::ranges::find(info.options, "preempt", &OptionInfo::key);
  if (option == info.options.end()) return info.effects.preempts;
  const auto given = options.find("preempt");
  return (given == options.end() ? option->value : given->second) == "true";
}

}  // namespace orrery
