#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string_view>

#include "cloud/decisions/cluster_speed.h"
#include "cloud/lifetimes/lifetime.h"
#include "cloud/provider/offer.h"

namespace orrery {

// What a job does when it has lost a worker.
enum class ReplacementRule : std::uint8_t {
  GoOn,          // with fewer workers
  Same,          // a server of the lost one's zone, GPU and class
  Cheapest,      // what costs least for a remaining step: any offer, or going on
  CheapestSpot,  // the same among spot offers
  OnDemand,      // the same among on-demand offers, and never going on
  FallBack,      // CheapestSpot, and OnDemand from the third loss on
};

// A server that could be asked for.
struct ReplacementCandidate {
  Offer offer;
  double steps_per_s = 0;  // of such a worker alone
  Duration startup{};      // from its request to its first step
  Lifetime lifetime;       // from its request on
};

// What is left to do, and what does it.
struct RemainingWork {
  double steps = 0;
  double sum_steps_per_s = 0;  // of the workers that live or have been asked for, each alone
  double usd_per_hour = 0;     // of all servers that live or have been asked for
  SpeedCap cap{};
  double usd_per_hour_of_time = 0;  // what an hour of training time is worth
  int losses = 0;                   // of workers until now, this one included
};

// What the rest of the work is expected to take and cost. The other servers are taken as they are:
// a later loss is a later decision.
struct ReplacementEstimate {
  double seconds = 0;
  double usd = 0;
  double usd_per_step = 0;  // infinite if no step would be done
};
ReplacementEstimate estimate_going_on(const RemainingWork& work);
// The candidate costs from now on, works after its start-up while it lives, and is not replaced.
ReplacementEstimate estimate_with(const RemainingWork& work, const ReplacementCandidate& candidate);

struct ReplacementChoice {
  std::optional<std::size_t> candidate;  // nothing: go on
  ReplacementEstimate estimate{};        // of the choice
};
// `lost` is the offer of the lost worker. With no candidate that the rule allows the job goes on,
// also without a worker. Of equal candidates the first wins.
ReplacementChoice choose_replacement(ReplacementRule rule, const RemainingWork& work,
                                     const Offer& lost,
                                     std::span<const ReplacementCandidate> candidates);

std::string_view text_of(ReplacementRule rule);
std::optional<ReplacementRule> replacement_rule_of(std::string_view word);
std::span<const std::string_view> replacement_rules();

}  // namespace orrery
