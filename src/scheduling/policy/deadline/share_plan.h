#pragma once

#include <vector>

#include "scheduling/policy/deadline/timeline.h"
#include "scheduling/prediction/scaling_curve.h"

namespace orrery {

// From when on a job runs on which option of its curve (0: on none), until `end`.
struct SharePlan {
  struct Segment {
    Time from{};
    int option = 0;
  };
  std::vector<Segment> segments;  // the first begins when the plan was made
  Time done{};                    // the last iteration is done
  Time end{};             // the last option is let go: not before, and later by the spare time
  double capacity_s = 0;  // capacity, summed over time
  double slope = 0;       // what a GPU brings where this plan uses it worst, iterations a second

  bool empty() const { return segments.empty(); }
  Time until(std::size_t i) const { return i + 1 < segments.size() ? segments[i + 1].from : end; }
  int option_at(Time time) const;
  // The first change after `time`; kNever if there is none but the end.
  Time next_change(Time time) const;
};

// What is to be done, and from which state.
struct ShareRequest {
  const ScalingCurve* curve = nullptr;
  Time now{};
  Time deadline{};
  double work = 0;        // iterations
  double factor = 1;      // the job's speed is the curve's times this
  Duration start_cost{};  // paid whenever the option changes to another above 0
  Duration late{};        // a rise that is planned for later may come so much later still
  Duration spare{};       // how long the last option is kept beyond what is needed
  int held = 0;           // the option it runs on now
  Time ready{};           // its first iteration on that began or begins then
  int forced = 0;         // a option it shall run on first...
  Time forced_until{};    // ...until then or until it is done
};

// The first of the rounds, at multiples of `apart`, that is not before `time`; 0: there is always
// one.
inline Time round_from(Time time, Duration apart) {
  if (apart <= Duration::zero() || kNever - time < apart) return time;
  const Duration since = time.time_since_epoch() + apart - Duration(1);
  return Time(since - since % apart);
}

// Plans over free GPUs. Work is a pure function of the arguments; buffers are kept between calls.
//
// cheapest(): of all ways to be done by the deadline within the free GPUs, one that takes least
// GPU-time. Without start-up costs that is exact for every curve, because a job may change its
// option at any instant: in each step of the free GPUs it can reach any point of the concave hull
// of the options that fit, and the greedy order over the hulls' slopes solves what remains. With
// start-up costs it is the cheapest of a few candidates, each of them charged in full.
//
// Where rounds are apart, a change comes only with a round: if the free GPUs change only then, so
// do plans, but for their ends.
class SharePlanner {
 public:
  explicit SharePlanner(Duration apart = {}) : apart_(apart) {}

  bool cheapest(const Timeline& free, const ShareRequest& request, SharePlan& plan);

  // The fastest option that is free at every instant, until the work is done: when it could be done
  // at the earliest, whatever the deadline. False if that is never.
  bool soonest(const Timeline& free, const ShareRequest& request, SharePlan& plan);

  // Lets a plan begin now and holds it against the work that is left; it ends as soon as that is
  // done, with what remains of its spare time. False if the work cannot be done by its end.
  bool carry_on(const ShareRequest& request, SharePlan& plan);

 private:
  bool fill(const Timeline& free, const ShareRequest& request, Time from, double work);
  void write(const Timeline& free, const ShareRequest& request, Time from, bool partly,
             SharePlan& plan) const;
  bool settle(const Timeline& free, const ShareRequest& request, bool partly, SharePlan& plan);
  bool hold_on(const Timeline& free, const ShareRequest& request, SharePlan& plan) const;

  const Duration apart_;
  // How high a job goes where at most so much is free, by option.
  double length_s_[ScalingCurve::kHullOptionsMax + 1] = {};
  int level_[ScalingCurve::kHullOptionsMax + 1] = {};
  int last_step_ = -1;      // the step that is taken in part
  double last_step_s_ = 0;  // ...for so long
  SharePlan other_;
};

// Walks the plan with start-up costs. Answers the work left undone; if that is 0, the plan's end,
// GPU-time and segments are cut to what is needed. Without `in_full` the spare time may be
// shorter.
double walk(const ShareRequest& request, Time until, bool in_full, SharePlan& plan);

}  // namespace orrery
