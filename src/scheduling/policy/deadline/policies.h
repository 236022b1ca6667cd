#pragma once

#include <array>

#include "scheduling/policy/registry.h"

namespace orrery {

// Policies that keep deadlines. Each entry stands beside its policy.
extern const PolicyInfo kElasticFlowPolicy;
extern const PolicyInfo kEdfPolicy;
extern const PolicyInfo kEdfAdmissionPolicy;
extern const PolicyInfo kChronusPolicy;
extern const PolicyInfo kOrreryDeadlinePolicy;

inline constexpr std::array kDeadlinePolicies = {&kElasticFlowPolicy, &kEdfPolicy,
                                                 &kEdfAdmissionPolicy, &kChronusPolicy,
                                                 &kOrreryDeadlinePolicy};

}  // namespace orrery
