#pragma once

#include <algorithm>
#include "model/grant.h"
#include "model/job.h"
#include "model/reason.h"

#include "scheduling/policy/deadline/share_plan.h"

namespace orrery {

// A job that is not done, as a policy of plans over time keeps it.
struct ElasticJob {
  JobId id = kNoJob;
  const JobSpec* spec = nullptr;
  const ScalingCurve* curve = nullptr;
  Duration start_cost{};   // at least what its spec says
  Time deadline = kNever;  // kNever: best effort
  bool hard = false;
  bool promised = false;
  bool attempt = false;  // ...but not told so: it has a plan that holds if all goes well
  bool broken = false;   // its promise cannot be kept any more
  bool pinned = false;   // it was promised to keep exactly what it holds
  bool has_run = false;  // before it came into sight

  // As of the last look.
  double work = 0;    // iterations left
  double factor = 1;  // its real speed over its curve's
  bool seen = false;  // ...was measured
  double hope = 1;    // the same if all goes well, where it was not
  double sure = 1;    // ...and what a promise may count on
  int held = 0;       // option
  Time ready{};
  // Decided in this round.
  int planned = 0;  // option its plan gives it now
  int target = 0;   // option it is to hold from now on, at least that if it is promised

  Devices place;                           // of a pinned job
  SharePlan plan;                          // of a promised job
  SharePlan draft;                         // while others are tried
  Reason refusal{};                        // why it was not promised
  Reason::Code told = Reason::Code::None;  // the last reason it was told
  Time expected{};                         // the last end that was foretold

  double speed(int option) const { return (*curve)[option].speed * factor; }
  ShapeId shape(int option) const { return (*curve)[option].shape; }
  int capacity(int option) const { return (*curve)[option].capacity; }
  ShareRequest request(Time now, Time by, Duration spare) const {
    ShareRequest request;
    request.curve = curve;
    request.now = now;
    request.deadline = by;
    request.work = work;
    request.factor = factor;
    request.start_cost = start_cost;
    request.held = held;
    request.ready = ready;
    request.spare = spare;
    return request;
  }
  // When it would be done at the earliest if it had the whole cluster from now on.
  Time soonest_alone(Time now) const {
    const double better = hope / factor;
    double rest_s = seconds(spec->start_cost) + work / (speed(curve->top()) * better);
    if (held > 0) {
      const double stay_s = seconds(std::max(ready, now) - now) + work / (speed(held) * better);
      rest_s = std::min(rest_s, stay_s);
    }
    const Duration rest = from_seconds(rest_s);
    return kNever - now > rest ? now + rest : kNever;
  }
};

}  // namespace orrery
