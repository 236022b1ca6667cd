#pragma once

#include <span>
#include <string>

#include "cloud/training_model/policy_comparison.h"

namespace orrery {

// In one line: which policies are worth a choice between time and cost.
std::string policies_verdict(std::span<const PolicyResult> results);

// The page of `orrery transient simulate`: cost against time, and a bar for each policy.
std::string simulate_page(std::span<const PolicyResult> results, const std::string& subtitle);

}  // namespace orrery
