#pragma once

#include <cstdint>
#include <variant>

#include "model/time.h"
#include "scheduling/prediction/group_speed.h"

namespace orrery {

// In a released simulator each scheduler has an event loop of its own. What its world must know of
// the loop is a property of the published policy, one struct for each kind of loop.

// Muri's loops.
struct MuriEnds {
  // Ends this close, relative to the time, are one event: at the time of the job that comes first
  // in the line of its scheduler, which differs from one to the next.
  double closeness = 1e-9;
  enum class Line : std::uint8_t { ByRemaining, ByService, ByClass, ByGpus };
  Line line = Line::ByClass;
  ContentionModel contention = {};  // of jobs on the same devices
};

// ElasticFlow's loops for elastic schedulers: rounds are a slot apart at least, and a round costs
// the jobs that run some seconds.
struct ElasticFlowRules {
  bool ends_as_planned = false;  // otherwise jobs end when their work is done
  bool charged = true;
  bool judged_by_plan = false;  // deadlines: by the plan that admission rests on, not by the end
  bool ends_while_paused = false;
};

// Its loops for the others: a job runs for its length in whole seconds on the GPUs it asked for.
struct RigidRules {
  enum class Rounds : std::uint8_t {
    AtEvents,    // arrivals, ends and whenever the policy asks, a slot apart
    AtArrivals,  // a slot apart; in every slot once no job is to come
    EverySlot,   // from the first arrival on
  };
  enum class Charged : std::uint8_t { Starts, Rounds, Nothing };
  Rounds rounds = Rounds::AtEvents;
  Charged charged = Charged::Starts;
  bool counts_iterations = false;  // a job also ends when these are done at the profile's speed
};

// Synergy's loop: rounds at fixed times.
struct SynergyRules {
  Time first_round{};
  bool by_matrix = false;  // speeds by what a job really holds
};

using ReleasedLoop =
    std::variant<std::monostate, MuriEnds, ElasticFlowRules, RigidRules, SynergyRules>;

// The alternative, or the usual loop of that world.
template <class Rules>
Rules rules_in(const ReleasedLoop& loop, const Rules& usual = {}) {
  const Rules* rules = std::get_if<Rules>(&loop);
  return rules == nullptr ? usual : *rules;
}

}  // namespace orrery
