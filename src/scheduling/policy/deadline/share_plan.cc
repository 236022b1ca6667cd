#include "scheduling/policy/deadline/share_plan.h"

#include <algorithm>
#include <cmath>
#include <limits>

namespace orrery {
namespace {

// Ends are planned at least this much late, so that rounding never makes a job later than its plan.
constexpr Duration kPad = std::chrono::microseconds(1);
constexpr int kRounds = 8;  // of adding what start-up costs took away

void append(SharePlan& plan, Time from, int option) {
  if (!plan.segments.empty()) {
    if (plan.segments.back().option == option) return;
    if (plan.segments.back().from == from) plan.segments.pop_back();
  }
  if (!plan.segments.empty() && plan.segments.back().option == option) return;
  plan.segments.push_back({from, option});
}

// Where going up does not last, it does not earn its start-up cost.
bool lasts(const Timeline& free, const ScalingCurve& curve, std::size_t step, int above, Time from,
           Duration wanted) {
  for (std::size_t i = step; i < free.size(); ++i) {
    if (curve.within(free.gpus(i)) <= above) return false;
    if (free.until(i) == kNever || free.until(i) - from >= wanted) return true;
  }
  return true;
}

// When a rise is surely there. A round was just held, and the next is at least `late` away; after
// that it may have to wait as long again.
Time comes(const ShareRequest& request, Time from) {
  if (from <= request.now) return from;
  return from - request.now <= request.late ? request.now + request.late : from + request.late;
}

Time begin_plan(const ShareRequest& request, SharePlan& plan) {
  plan.segments.clear();
  if (request.forced == 0 || request.forced_until <= request.now) return request.now;
  plan.segments.push_back({request.now, request.forced});
  return request.forced_until;
}

}  // namespace

int SharePlan::option_at(Time time) const {
  if (time >= end) return 0;
  int option = 0;
  for (const Segment& segment : segments) {
    if (segment.from > time) break;
    option = segment.option;
  }
  return option;
}

Time SharePlan::next_change(Time time) const {
  for (const Segment& segment : segments) {
    if (segment.from > time) return segment.from;
  }
  return kNever;
}

double walk(const ShareRequest& request, Time until, bool in_full, SharePlan& plan) {
  const Duration spare = std::max(request.spare, kPad);
  const auto spare_ns = static_cast<double>(in_full ? spare.count() : 0);
  double left = request.work;
  double capacity_s = 0;
  double speed = 0;
  int option = request.held;
  Time ready = request.ready;
  Time risen = request.now;
  for (std::size_t i = 0; i < plan.segments.size(); ++i) {
    const SharePlan::Segment& segment = plan.segments[i];
    const Time to = i + 1 < plan.segments.size() ? plan.segments[i + 1].from : until;
    if (segment.option != option) {
      if (segment.option > option) risen = comes(request, segment.from);
      ready = std::max(segment.from, risen) + request.start_cost;
    }
    option = segment.option;
    if (option == 0) continue;
    speed = (*request.curve)[option].speed * request.factor;
    const Time from = std::max(segment.from, ready);
    const double needed_ns = std::ceil(left / speed * 1e9);
    const auto given_ns = static_cast<double>((to - std::min(from, to)).count());
    if (from <= to && needed_ns + spare_ns <= given_ns) {
      plan.done = from + Duration(static_cast<std::int64_t>(needed_ns));
      plan.end = to - plan.done > spare ? plan.done + spare : to;
      plan.segments.resize(i + 1);
      plan.capacity_s =
          capacity_s + (*request.curve)[option].capacity * seconds(plan.end - segment.from);
      return 0;
    }
    // Where only the spare time is missing, it has to be found on the next option.
    if (to > from) left = std::max(left - speed * seconds(to - from), 0.0);
    capacity_s += (*request.curve)[option].capacity * seconds(to - segment.from);
  }
  // What rounding leaves over is still to be done.
  return std::max(left + speed * spare_ns / 1e9, request.work * 1e-12);
}

bool SharePlanner::fill(const Timeline& free, const ShareRequest& request, Time from, double work) {
  const ScalingCurve& curve = *request.curve;
  std::fill(length_s_, length_s_ + curve.size(), 0.0);
  std::fill(level_, level_ + curve.size(), 0);
  for (std::size_t i = free.step_at(from); i < free.size(); ++i) {
    const Time begin = std::max(from, free.from(i));
    if (begin >= request.deadline) break;
    length_s_[curve.within(free.gpus(i))] +=
        seconds(std::min(free.until(i), request.deadline) - begin);
  }
  last_step_ = -1;
  last_step_s_ = 0;
  double left = work / request.factor;
  for (std::size_t s = 0; s < curve.hull_edges().size() && left > 0; ++s) {
    const ScalingCurve::HullEdge& step = curve.hull_edges()[s];
    double length_s = 0;
    for (int limit = step.to; limit < curve.size(); ++limit) {
      if ((step.limits >> limit & 1) == 0 || length_s_[limit] == 0) continue;
      length_s += length_s_[limit];
      level_[limit] = step.to;
    }
    if (length_s == 0) continue;
    const double gain = curve[step.to].speed - curve[step.from].speed;
    last_step_ = static_cast<int>(s);
    last_step_s_ = std::min(length_s, left / gain);
    left -= length_s * gain;
  }
  return left <= 0;
}

void SharePlanner::write(const Timeline& free, const ShareRequest& request, Time from, bool partly,
                         SharePlan& plan) const {
  const ScalingCurve& curve = *request.curve;
  const ScalingCurve::HullEdge& last = curve.hull_edges()[static_cast<std::size_t>(last_step_)];
  const Duration worth = 2 * request.start_cost;
  double left_s = partly ? last_step_s_ : std::numeric_limits<double>::infinity();
  int option = plan.segments.empty() ? request.held : plan.segments.back().option;
  for (std::size_t i = free.step_at(from); i < free.size(); ++i) {
    const Time begin = std::max(from, free.from(i));
    if (begin >= request.deadline) break;
    const int limit = curve.within(free.gpus(i));
    const Time end = std::min(free.until(i), request.deadline);
    const bool in_last = (last.limits >> limit & 1) != 0 && level_[limit] == last.to;
    int wanted = in_last && left_s <= 0 ? last.from : level_[limit];
    if (wanted > option && option > 0 && worth > Duration::zero() &&
        !lasts(free, curve, i, option, begin, worth)) {
      wanted = std::min(option, limit);
    }
    append(plan, begin, wanted);
    option = wanted;
    if (!in_last || wanted != last.to) continue;
    const double length_s = seconds(end - begin);
    if (left_s < length_s) {
      const Time change = round_from(begin + from_seconds(left_s) + Duration(1), apart_);
      if (change < end) append(plan, change, last.from);
      option = last.from;
    }
    left_s -= length_s;
  }
}

bool SharePlanner::settle(const Timeline& free, const ShareRequest& request, bool partly,
                          SharePlan& plan) {
  last_step_ = -1;  // none, where the option that the job shall run on first is enough
  double work = request.work;
  for (int round = 0; round < kRounds; ++round) {
    const Time from = begin_plan(request, plan);
    double rest = work;
    if (from > request.now) {
      const double undone = walk(request, from, true, plan);
      if (undone == 0) return true;
      rest -= request.work - undone;
    }
    if (from >= request.deadline || !fill(free, request, from, rest) || last_step_ < 0)
      return false;
    write(free, request, from, partly, plan);
    const double undone = walk(request, request.deadline, true, plan);
    if (undone == 0) return true;
    work += undone * (1 + 1e-9);
  }
  return false;
}

bool SharePlanner::hold_on(const Timeline& free, const ShareRequest& request,
                           SharePlan& plan) const {
  const int held = request.forced != 0 ? request.forced : request.held;
  if (held == 0) return false;
  const Time from = begin_plan(request, plan);
  for (std::size_t i = free.step_at(from); i < free.size(); ++i) {
    const Time begin = std::max(from, free.from(i));
    if (begin >= request.deadline) break;
    append(plan, begin, std::min(held, request.curve->within(free.gpus(i))));
  }
  return walk(request, request.deadline, true, plan) == 0;
}

bool SharePlanner::cheapest(const Timeline& free, const ShareRequest& request, SharePlan& plan) {
  if (request.curve->top() == 0 || request.deadline <= request.now) return false;
  bool found = settle(free, request, true, plan);
  const double slope =
      last_step_ < 0 ? 0 : request.curve->hull_edges()[static_cast<std::size_t>(last_step_)].slope;
  if (request.start_cost > Duration::zero()) {
    const auto keep_better = [&](bool ok) {
      if (!ok || (found && plan.capacity_s <= other_.capacity_s)) return;
      std::swap(plan, other_);
      found = true;
    };
    keep_better(settle(free, request, false, other_));
    keep_better(hold_on(free, request, other_));
    if (!found && request.forced == 0) {
      found = soonest(free, request, plan) && plan.end <= request.deadline;
    }
  }
  plan.slope = slope;
  return found;
}

bool SharePlanner::soonest(const Timeline& free, const ShareRequest& request, SharePlan& plan) {
  const ScalingCurve& curve = *request.curve;
  if (curve.top() == 0) return false;
  plan.segments.clear();
  const Duration worth = 2 * request.start_cost;
  int option = request.held;
  for (std::size_t i = free.step_at(request.now); i < free.size(); ++i) {
    const Time begin = std::max(request.now, free.from(i));
    int wanted = curve.within(free.gpus(i));
    if (wanted > option && option > 0 && worth > Duration::zero() &&
        !lasts(free, curve, i, option, begin, worth)) {
      wanted = option;
    }
    append(plan, begin, wanted);
    option = wanted;
  }
  plan.slope = curve.hull_edges().back().slope;
  return walk(request, kNever, true, plan) == 0;
}

bool SharePlanner::carry_on(const ShareRequest& request, SharePlan& plan) {
  if (plan.empty() || plan.end <= request.now) return false;
  std::size_t first = 0;
  while (first + 1 < plan.segments.size() && plan.segments[first + 1].from <= request.now) ++first;
  plan.segments.erase(plan.segments.begin(),
                      plan.segments.begin() + static_cast<std::ptrdiff_t>(first));
  plan.segments[0].from = request.now;
  return walk(request, plan.end, false, plan) == 0;
}

}  // namespace orrery
