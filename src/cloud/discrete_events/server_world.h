#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "base/random.h"
#include "cloud/lifetimes/lifetime.h"
#include "cloud/provider/offer.h"
#include "model/time.h"

namespace orrery {

// How many servers a zone has at each time, after a recorded trace. Before its first tick the first
// value holds, after its last tick the last one.
struct ZoneTrace {
  Duration tick = std::chrono::minutes(1);
  std::vector<int> available{};
  Time begin{};  // of the first tick

  int at(Time now) const;
  // The next instant at which the value changes; kNever after the last change.
  Time next_change(Time now) const;
};

// Events that hit many servers of a zone at once.
struct ZoneShocks {
  double per_hour = 0;
  double probability = 0;  // that a spot server of the zone is revoked by one
};

// A revocation that is given: the notice comes at `at`.
struct ScheduledRevocation {
  std::string server;
  Time at{};
};

// The rules of a world of servers. The same rules, seed and calls give the same events. Traces and
// given revocations count from the start of the provider.
struct ServerWorld {
  std::vector<Offer> offers{};
  std::uint64_t seed = 0;
  // From the request to Running.
  std::function<Duration(const Offer& offer, Random& random)> start_up{};
  // The age of a spot server at its revocation. Nothing: it is not revoked for its age.
  std::function<std::optional<Lifetime>(const Offer& offer)> lifetime{};
  Duration stop_time{};                        // from a stop to the end
  std::map<std::string, int> capacity{};       // by zone; a zone that is not named has no limit
  std::map<std::string, ZoneTrace> traces{};   // spot servers by zone
  std::map<std::string, ZoneShocks> shocks{};  // by zone
  std::vector<ScheduledRevocation> revocations{};
  // How long before the notice of a revocation by age a warning comes; zero: none does.
  Duration at_risk{};
};

}  // namespace orrery
