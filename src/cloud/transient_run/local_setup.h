#pragma once

#include <map>
#include <string>

#include "cloud/discrete_events/server_world.h"
#include "cloud/transient_run/transient_spec.h"

namespace orrery {

// How long spot servers live, from "weibull:SHAPE,SCALE_H", "exponential:RATE_PER_H", "fixed:AGE",
// "never", or "empirical:FILE:GPU" of the published measurements; "+24h" at the end adds a limit.
Result<Lifetime> parse_lifetime(const std::string& text);

// How long spot servers are expected to live, by GPU; "*": those with another one.
using Lifetimes = std::map<std::string, Lifetime>;
Result<Lifetimes> expected_lifetimes(const LocalSpec& spec);
const Lifetime* lifetime_of(const Lifetimes& lifetimes, const Offer& offer);  // null: not revoked

// The CPU quota of a worker's process, by GPU, so that servers of this machine are as fast beside
// each other as those that they stand for; "*": of those with another one.
using WorkerCores = std::map<std::string, double>;
Result<WorkerCores> worker_cores(const LocalSpec& spec);
double cores_of(const WorkerCores& cores, const Offer& offer);  // 0: no quota

// Servers on this machine under the rules of `spec`, from `start` on.
Result<ServerWorld> local_world(const LocalSpec& spec, const PriceList& prices, Time start);

}  // namespace orrery
