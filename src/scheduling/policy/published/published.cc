#include "scheduling/policy/published/published.h"

#include <algorithm>

namespace orrery {

PublishedPolicy published_policy(const PublishedWorld* world, std::string_view policy) {
  if (world == nullptr) return {.name = policy};
  const auto listed = std::ranges::find(world->policies, policy, &PublishedPolicy::name);
  return listed == world->policies.end() ? PublishedPolicy{.name = policy} : *listed;
}

std::span<const OptionDefault> published_allocator_defaults(const PublishedWorld* world) {
  return world == nullptr ? std::span<const OptionDefault>() : world->allocator_defaults;
}

}  // namespace orrery
