#pragma once

#include <span>

#include "scheduling/policy/registry.h"

namespace orrery {

// The lines of the registry: names, options, and how options become a policy. Each stands beside
// its policy.
extern const PolicyInfo kElasticFlowPolicy;
extern const PolicyInfo kEdfPolicy;
extern const PolicyInfo kEdfAdmissionPolicy;

std::span<const PolicyInfo> order_policies();
std::span<const PolicyInfo> fair_order_policies();
std::span<const PolicyInfo> family_policies();
std::span<const PolicyInfo> rival_policies();
std::span<const PolicyInfo> deadline_policies();

}  // namespace orrery
