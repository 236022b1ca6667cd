#pragma once

#include <array>
#include <memory>
#include <optional>
#include <string_view>

#include "base/result.h"
#include "scheduling/policy/published/published.h"
#include "simulation/worlds/semantics.h"

namespace orrery {

// A simulated world: how progress is made there, and what goes with it.
struct World {
  // What its Semantics are made of.
  struct Parts {
    const Workload& workload;
    const Cluster& cluster;
    Duration round{};
    const ReleasedLoop& loop;
    ReleasedClock& clock;
  };

  std::unique_ptr<Semantics> (*make)(const Parts& parts);
  const PublishedWorld* published = nullptr;  // nullptr: policies are our own
  Duration round{};                           // how far apart rounds are held, if that is not set
  bool own_rounds = false;                    // the Semantics say when rounds are held
  // Jobs as that world has them; what a round costs; an error where a round costs more than it
  // brings. nullptr: as they are; nothing; any round will do.
  Workload (*converted)(const Workload& workload) = nullptr;
  ExecutionCost (*cost)(const Cluster& cluster, Duration round) = nullptr;
  Status (*check_round)(const Workload& workload, const Cluster& cluster, Duration round) = nullptr;
};

// In the order of SemanticsKind.
const std::array<World, 4>& worlds();

}  // namespace orrery
