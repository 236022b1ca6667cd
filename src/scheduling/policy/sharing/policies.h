#pragma once

#include <array>

#include "scheduling/policy/registry.h"

namespace orrery {

// Policies that divide the GPUs among elastic jobs. Each entry stands beside its policy.
extern const PolicyInfo kOptimusPolicy;
extern const PolicyInfo kAfsPolicy;
extern const PolicyInfo kPolluxPolicy;

inline constexpr std::array kSharingPolicies = {&kOptimusPolicy, &kAfsPolicy, &kPolluxPolicy};

}  // namespace orrery
