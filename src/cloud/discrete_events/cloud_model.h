#pragma once

#include <functional>
#include <map>
#include <string>
#include <vector>

#include "base/random.h"
#include "cloud/lifetimes/lifetime.h"
#include "cloud/provider/server.h"

namespace orrery {

// The longest Duration: never.
inline constexpr Duration kNoEnd = kNever.time_since_epoch();

// From its instant on, a zone has capacity for this number of spot and flex servers.
struct CapacityStep {
  Time from{};
  int servers = 0;
};

// The capacity of a zone as a spot trace has it: one count for each tick, from `start` on.
std::vector<CapacityStep> capacity_of_trace(Time start, Duration tick,
                                            const std::vector<int>& counts);

// Several servers of a zone are revoked at once: shocks come `per_hour` times in each zone, and
// each spot server there gets a notice with this probability.
struct ZoneShocks {
  double per_hour = 0;
  double probability = 0;
};

// How servers behave. The functions draw from the Random that they are given and from nothing else.
struct CloudModel {
  std::vector<Offer> offers;
  // From the request until the server runs.
  std::function<Duration(const ServerSpec&, Random&)> startup;
  // From the request of a spot server until it is revoked; kNoEnd: never.
  std::function<Duration(const ServerSpec&, Random&)> life;
  // By zone, in the order of time. A zone that is not here has no limit. If the capacity falls
  // below the spot servers of the zone, the newest are revoked.
  std::map<std::string, std::vector<CapacityStep>> capacities{};
  ZoneShocks shocks{};
  Duration at_risk{};  // AtRisk comes this long before the notice; 0: it does not come
  Time start{};
};

// Every server takes `startup` and lives for ever.
std::function<Duration(const ServerSpec&, Random&)> same_for_all(Duration duration);
// Drawn from the lifetime of the server's offer.
std::function<Duration(const ServerSpec&, Random&)> drawn_from(
    std::function<const Lifetime&(const Offer&)> lifetime_of);
// By the name of the server; kNoEnd for one that is not in it.
std::function<Duration(const ServerSpec&, Random&)> scheduled(
    std::map<std::string, Duration> by_name);

}  // namespace orrery
