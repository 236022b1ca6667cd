#pragma once

#include <algorithm>
#include "model/job.h"
#include "model/reason.h"

#include "policy/share_plan.h"

namespace orrery {

// A job that is not done, as a policy of plans over time keeps it.
struct ElasticJob {
  JobId id = kNoJob;
  const JobSpec* spec = nullptr;
  const Ladder* ladder = nullptr;
  Time deadline = kNever;  // kNever: best effort
  bool hard = false;
  bool promised = false;
  bool broken = false;  // its promise cannot be kept any more
  bool pinned = false;  // it was promised to keep exactly what it holds

  // As of the last look.
  double work = 0;    // iterations left
  double factor = 1;  // its real speed over its curve's
  bool seen = false;  // ...was measured
  int held = 0;       // rung
  Time ready{};
  // Decided in this round.
  int planned = 0;  // rung its plan gives it now
  int target = 0;   // rung it is to hold from now on, at least that if it is promised

  SharePlan plan;                          // of a promised job
  SharePlan draft;                         // while others are tried
  Reason refusal{};                        // why it was not promised
  Reason::Code told = Reason::Code::None;  // the last reason it was told
  Time expected{};                         // the last end that was foretold

  double speed(int rung) const { return (*ladder)[rung].speed * factor; }
  int room(int rung) const { return (*ladder)[rung].room; }
  ShareRequest request(Time now, Time by, Duration spare) const {
    ShareRequest request;
    request.ladder = ladder;
    request.now = now;
    request.deadline = by;
    request.work = work;
    request.factor = factor;
    request.start_cost = spec->start_cost;
    request.held = held;
    request.ready = ready;
    request.spare = spare;
    return request;
  }
  // When it would be done if it had the whole cluster from now on.
  Time soonest_alone(Time now) const {
    const int top = ladder->top();
    const double stay_s =
        held == top && top > 0 ? seconds(std::max(ready, now) - now) : seconds(spec->start_cost);
    double best_s = stay_s + work / speed(top);
    if (held > 0) {
      best_s = std::min(best_s, seconds(std::max(ready, now) - now) + work / speed(held));
    }
    const Duration rest = from_seconds(best_s);
    return kNever - now > rest ? now + rest : kNever;
  }
};

}  // namespace orrery
