#pragma once

#include <array>

#include "scheduling/policy/registry.h"

namespace orrery {

// Policies under which jobs share devices. Each entry stands beside its policy.
extern const PolicyInfo kAntmanPolicy;
extern const PolicyInfo kMuriSPolicy;
extern const PolicyInfo kMuriLPolicy;

inline constexpr std::array kGroupingPolicies = {&kAntmanPolicy, &kMuriSPolicy, &kMuriLPolicy};

}  // namespace orrery
