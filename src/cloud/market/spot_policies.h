#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string_view>

#include "base/result.h"
#include "cloud/market/spot_job.h"
#include "cloud/market/spot_policy.h"

namespace orrery {

// What a policy is built from.
struct SpotPlan {
  SpotJob job{};
  Duration tick{};
  int zones = 0;
  std::uint64_t seed = 0;  // of policies that draw
};

struct SpotPolicyInfo {
  std::string_view name;
  std::string_view line;  // one sentence
  std::unique_ptr<SpotPolicy> (*make)(const SpotPlan& plan);
};

// Each entry stands beside its class.
extern const SpotPolicyInfo kOnDemandSpotPolicy;
extern const SpotPolicyInfo kGreedySpotPolicy;
extern const SpotPolicyInfo kUniformProgressSpotPolicy;
extern const SpotPolicyInfo kSkyNomadSpotPolicy;
extern const SpotPolicyInfo kRossSpotPolicy;
extern const SpotPolicyInfo kOrrerySpotPolicy;

std::span<const SpotPolicyInfo* const> spot_policies();

// Fails with the nearest name where there is no such policy.
Result<const SpotPolicyInfo*> find_spot_policy(std::string_view name);

}  // namespace orrery
