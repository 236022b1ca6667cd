#include "cloud/market/spot_policies.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <vector>

#include "base/nearest_word.h"
#include "base/plain_text.h"

namespace orrery {
namespace {

constexpr std::array kPolicies = {
    &kOnDemandSpotPolicy, &kGreedySpotPolicy, &kUniformProgressSpotPolicy,
    &kSkyNomadSpotPolicy, &kRossSpotPolicy,   &kOrrerySpotPolicy};

}  // namespace

std::span<const SpotPolicyInfo* const> spot_policies() { return kPolicies; }

Result<const SpotPolicyInfo*> find_spot_policy(std::string_view name) {
  std::vector<std::string_view> names;
  for (const SpotPolicyInfo* policy : kPolicies) {
    if (policy->name == name) return policy;
    names.push_back(policy->name);
  }
  return invalid(fmt::format("there is no policy '{}'; did you mean {}?", plain_text(name),
                             nearest_word(name, names)));
}

}  // namespace orrery
