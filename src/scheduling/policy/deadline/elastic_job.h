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
  bool has_run = false;  // before it arrived here

  // As of the last look.
  struct Progress {
    double work = 0;        // iterations left
    double factor = 1;      // its real speed over its curve's
    bool measured = false;  // ...was measured
    double optimistic = 1;  // the same if all goes well, where it was not
    double assured = 1;     // ...and what a promise may count on
    int held = 0;           // option
    Time ready{};
  } now;

  struct Promise {
    bool given = false;
    bool attempt = false;  // ...but not reported: its plan holds if all goes well
    bool broken = false;   // it cannot be kept any more
    bool fixed = false;    // the job keeps exactly `place`
    Devices place;
    SharePlan plan;
    SharePlan draft;   // while others are tried
    Reason refusal{};  // why none was given
  } promise;

  struct Decision {
    int planned = 0;  // option its plan gives it now
    int target = 0;   // option it is to hold from now on, at least `planned` if it is promised
  } round;

  // What was last said about it.
  struct Reported {
    Reason::Code reason = Reason::Code::None;
    Time end{};  // the forecast
  } reported;

  double speed(int option) const { return (*curve)[option].speed * now.factor; }
  ShapeId shape(int option) const { return (*curve)[option].shape; }
  int capacity(int option) const { return (*curve)[option].capacity; }
  ShareRequest request(Time at, Time by, Duration spare) const {
    ShareRequest request;
    request.curve = curve;
    request.now = at;
    request.deadline = by;
    request.work = now.work;
    request.factor = now.factor;
    request.start_cost = start_cost;
    request.held = now.held;
    request.ready = now.ready;
    request.spare = spare;
    return request;
  }
  // When it would be done at the earliest if it had the whole cluster from this time on.
  Time soonest_alone(Time at) const {
    const double better = now.optimistic / now.factor;
    double rest_s = seconds(spec->start_cost) + now.work / (speed(curve->top()) * better);
    if (now.held > 0) {
      const double stay_s =
          seconds(std::max(now.ready, at) - at) + now.work / (speed(now.held) * better);
      rest_s = std::min(rest_s, stay_s);
    }
    const Duration rest = from_seconds(rest_s);
    return kNever - at > rest ? at + rest : kNever;
  }
};

}  // namespace orrery
