#pragma once

#include <span>
#include <string_view>

#include "scheduling/policy/registry.h"

namespace orrery {

// How a policy was released with a simulator: what differs from the policy of that name.
struct PublishedPolicy {
  std::string_view name;
  std::span<const OptionDefault> defaults = {};            // of options, where they differ
  MakePolicy* make = nullptr;                              // nullptr: as ours
  ReleasedLoop (*loop)(const Options& options) = nullptr;  // nullptr: the usual one of its world
  // With an allocator of CPUs and memory:
  MakeOrder* order = nullptr;    // nullptr: as ours
  bool chosen_by_count = false;  // jobs are chosen by GPUs alone; under tune the largest is first
};

// The policies of one released simulator. A simulated world hands them in (PolicyContext); those
// that are not listed are as ours.
struct PublishedWorld {
  std::string_view name;
  std::span<const PublishedPolicy> policies;
  std::span<const OptionDefault> allocator_defaults = {};
  // The loop of policies with an allocator; `late`: the first round is held after a second.
  ReleasedLoop (*allocator_loop)(const AllocatorInfo& allocator, bool late) = nullptr;
};

const PublishedWorld& muri_world();         // Muri (SIGCOMM '22)
const PublishedWorld& elasticflow_world();  // ElasticFlow (ASPLOS '23)
const PublishedWorld& synergy_world();      // Synergy (OSDI '22)

// Without a world, or where it lists none of that name: nothing differs.
PublishedPolicy published_policy(const PublishedWorld* world, std::string_view policy);
std::span<const OptionDefault> published_allocator_defaults(const PublishedWorld* world);

}  // namespace orrery
