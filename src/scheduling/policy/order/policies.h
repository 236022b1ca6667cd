#pragma once

#include <array>

#include "scheduling/policy/registry.h"

namespace orrery {

// Policies that decide which job goes first. Each entry stands beside its policy.
extern const PolicyInfo kFifoPolicy;
extern const PolicyInfo kSjfPolicy;
extern const PolicyInfo kSrtfPolicy;
extern const PolicyInfo kSrsfPolicy;
extern const PolicyInfo kLasPolicy;
extern const PolicyInfo kGittinsPolicy;
extern const PolicyInfo kFtfPolicy;
extern const PolicyInfo kDrfPolicy;
extern const PolicyInfo kTetrisPolicy;
extern const PolicyInfo kThemisPolicy;
extern const PolicyInfo kGandivaPolicy;

inline constexpr std::array kOrderPolicies = {
    &kFifoPolicy, &kSjfPolicy, &kSrtfPolicy,   &kSrsfPolicy,   &kLasPolicy,    &kGittinsPolicy,
    &kFtfPolicy,  &kDrfPolicy, &kTetrisPolicy, &kThemisPolicy, &kGandivaPolicy};

}  // namespace orrery
