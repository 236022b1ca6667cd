#include "scheduling/policy/deadline/share_plan.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "base/random.h"

namespace orrery {
namespace {

Time at(double s) { return time_from_seconds(s); }

// A curve that rises, concave or not.
ScalingCurve random_curve(Random& random, bool concave, int options_max = 4) {
  std::vector<GpuOption> options;
  double speed = 0;
  double gain = 2;
  int gpus = 0;
  const auto count = random.between(1, options_max);
  for (int i = 0; i < count; ++i) {
    const int step = static_cast<int>(random.between(1, 2));
    gain = concave ? gain * (0.4 + 0.6 * random.uniform()) : 2 * random.uniform() - 0.3;
    speed += gain * step;
    gpus += step;
    options.push_back({gpus, gpus, speed});
  }
  return ScalingCurve::with_hull(std::move(options));
}

Timeline random_free(Random& random, int total, int horizon) {
  Timeline free;
  free.reset(at(0), total);
  const auto count = random.between(0, 4);
  for (int i = 0; i < count; ++i) {
    const auto from = random.between(0, horizon - 1);
    const auto until = random.between(from + 1, horizon + 2);
    const int most = free.least(at(double(from)), at(double(until)));
    free.take(at(double(from)), at(double(until)), static_cast<int>(random.between(0, most)));
  }
  return free;
}

// The least GPU-time over all ways to divide each step between two options, by linear programming
// done the long way: for a fixed marginal speed, each step takes the option that is best at it, so
// the optimum lies at one of the slopes between two options.
double least_capacity_s(const Timeline& free, const ScalingCurve& curve, double work,
                        Time deadline) {
  std::vector<double> slopes;  // GPU-seconds for an iteration
  for (int a = 0; a < curve.size(); ++a) {
    for (int b = a + 1; b < curve.size(); ++b) slopes.push_back(1 / curve.slope(a, b));
  }
  double best = 0;
  for (const double dual : slopes) {
    // The dual value here is a bound from below, and it is reached at one of them.
    double value = dual * work;
    for (std::size_t i = 0; i < free.size() && free.from(i) < deadline; ++i) {
      double cheapest = 0;
      for (int option = 0; option < curve.size(); ++option) {
        if (curve[option].capacity > free.gpus(i)) continue;
        cheapest = std::min(cheapest, curve[option].capacity - dual * curve[option].speed);
      }
      value += cheapest * seconds(std::min(free.until(i), deadline) - free.from(i));
    }
    best = std::max(best, value);
  }
  return best;
}

// The same over whole seconds by dynamic programming, for every amount of GPU-time: what work can
// be done at most. Exact where work is a multiple of what a second brings.
bool can_be_done(const Timeline& free, const ScalingCurve& curve, double work, Time deadline) {
  double most = 0;
  for (std::size_t i = 0; i < free.size() && free.from(i) < deadline; ++i) {
    const double length_s = seconds(std::min(free.until(i), deadline) - free.from(i));
    double fastest = 0;
    for (int option = 0; option < curve.size(); ++option) {
      if (curve[option].capacity <= free.gpus(i)) fastest = std::max(fastest, curve[option].speed);
    }
    most += fastest * length_s;
  }
  return most >= work;
}

// What a plan comes to, second by second, without looking at how it was made.
void expect_sound(const Timeline& free, const ShareRequest& request, const SharePlan& plan) {
  double left = request.work;
  int option = request.held;
  Time ready = request.ready;
  for (std::size_t i = 0; i < plan.segments.size(); ++i) {
    const Time from = plan.segments[i].from;
    const Time until = plan.until(i);
    ASSERT_LT(from, until);
    ASSERT_GE(free.least(from, until), (*request.curve)[plan.segments[i].option].capacity);
    if (plan.segments[i].option != option) ready = from + request.start_cost;
    option = plan.segments[i].option;
    if (option == 0 || until <= ready) continue;
    left -=
        seconds(until - std::max(from, ready)) * (*request.curve)[option].speed * request.factor;
  }
  ASSERT_LE(left, 1e-9 * request.work);
  ASSERT_LE(plan.end, request.deadline);
  ASSERT_EQ(plan.segments.front().from, request.now);
}

void expect_cheapest(std::uint64_t seed, bool concave) {
  Random random(seed);
  const int horizon = static_cast<int>(random.between(2, 12));
  const ScalingCurve curve = random_curve(random, concave);
  const Timeline free = random_free(random, static_cast<int>(random.between(1, 8)), horizon);
  if (curve.top() == 0) return;
  const double work = random.uniform() * horizon * curve[curve.top()].speed * 1.1 + 0.01;
  const ShareRequest request{.curve = &curve, .now = at(0), .deadline = at(horizon), .work = work};
  SharePlanner planner;
  SharePlan plan;
  const bool found = planner.cheapest(free, request, plan);
  const bool possible = can_be_done(free, curve, work, at(horizon - 1e-5));
  if (found != possible) {
    ASSERT_EQ(found, can_be_done(free, curve, work, at(horizon))) << "seed " << seed;
  }
  if (!found) return;
  ASSERT_NO_FATAL_FAILURE(expect_sound(free, request, plan)) << "seed " << seed;
  const double least = least_capacity_s(free, curve, work, at(horizon));
  // The end is padded by a microsecond, and changes are on whole nanoseconds.
  ASSERT_NEAR(plan.capacity_s, least, 1e-4) << "seed " << seed;
}

TEST(SharePlan, TakesTheLeastGpuTimeOnConcaveCurves) {
  for (std::uint64_t seed = 1; seed <= 4000; ++seed) {
    ASSERT_NO_FATAL_FAILURE(expect_cheapest(seed, true));
  }
}

TEST(SharePlan, TakesTheLeastGpuTimeOnAnyCurve) {
  for (std::uint64_t seed = 1; seed <= 4000; ++seed) {
    ASSERT_NO_FATAL_FAILURE(expect_cheapest(seed, false));
  }
}

// All plans that give each second one option. None of them may beat the planner.
double brute_force(const Timeline& free, const ScalingCurve& curve, double work, int second,
                   int horizon) {
  if (work <= 0) return 0;
  double best = std::numeric_limits<double>::infinity();
  if (second == horizon) return best;
  for (int option = 0; option < curve.size(); ++option) {
    if (curve[option].capacity > free.at(at(second))) continue;
    const double share = option == 0 ? 1 : std::min(1.0, work / curve[option].speed);
    best = std::min(best,
                    curve[option].capacity * share +
                        brute_force(free, curve, work - curve[option].speed, second + 1, horizon));
  }
  return best;
}

TEST(SharePlan, NoPlanOfWholeSecondsIsCheaper) {
  int found = 0;
  for (std::uint64_t seed = 1; seed <= 3000; ++seed) {
    Random random(seed);
    const int horizon = static_cast<int>(random.between(1, 6));
    const ScalingCurve curve = random_curve(random, seed % 2 == 0, 3);
    const Timeline free = random_free(random, static_cast<int>(random.between(1, 6)), horizon);
    if (curve.top() == 0) continue;
    const double work = random.uniform() * horizon * curve[curve.top()].speed + 0.01;
    const ShareRequest request{
        .curve = &curve, .now = at(0), .deadline = at(horizon + 1e-5), .work = work};
    SharePlanner planner;
    SharePlan plan;
    const double least = brute_force(free, curve, work, 0, horizon);
    const bool ok = planner.cheapest(free, request, plan);
    if (std::isfinite(least)) {
      ASSERT_TRUE(ok) << "seed " << seed;
      ASSERT_LE(plan.capacity_s, least + 1e-4) << "seed " << seed;
      ++found;
    }
  }
  EXPECT_GT(found, 1000);
}

TEST(SharePlan, ChargesEveryStartAndStillEndsInTime) {
  int found = 0;
  for (std::uint64_t seed = 1; seed <= 6000; ++seed) {
    Random random(seed);
    const int horizon = static_cast<int>(random.between(20, 200));
    const ScalingCurve curve = random_curve(random, seed % 2 == 0);
    const Timeline free = random_free(random, static_cast<int>(random.between(1, 8)), horizon);
    if (curve.top() == 0) continue;
    ShareRequest request{.curve = &curve, .now = at(0), .deadline = at(horizon)};
    request.work = random.uniform() * horizon * curve[curve.top()].speed;
    request.start_cost = from_seconds(double(random.between(0, 8)));
    request.factor = 0.8 + 0.4 * random.uniform();
    request.held = curve.within(static_cast<int>(random.between(0, free.at(at(0)))));
    request.ready = at(double(random.between(-3, 3)));
    if (random.uniform() < 0.3) {
      request.forced = curve.within(free.at(at(0)));
      request.forced_until = std::min(free.until(0), at(double(random.between(1, 10))));
    }
    SharePlanner planner;
    SharePlan plan;
    if (!planner.cheapest(free, request, plan)) continue;
    ++found;
    ASSERT_NO_FATAL_FAILURE(expect_sound(free, request, plan)) << "seed " << seed;
    if (request.forced > 0 && plan.end > request.forced_until) {
      ASSERT_EQ(plan.segments.front().option, request.forced);
      ASSERT_TRUE(plan.segments.size() == 1 || plan.segments[1].from >= request.forced_until);
    }
  }
  EXPECT_GT(found, 2000);
}

// A planner keeps buffers between calls. What it planned before must not show.
TEST(SharePlan, DependsOnItsRequestAlone) {
  SharePlanner used;
  int forced = 0;
  for (std::uint64_t seed = 1; seed <= 2000; ++seed) {
    Random random(seed);
    const int horizon = static_cast<int>(random.between(20, 200));
    const ScalingCurve curve = random_curve(random, seed % 2 == 0);
    const Timeline free = random_free(random, static_cast<int>(random.between(1, 8)), horizon);
    if (curve.top() == 0) continue;
    ShareRequest request{.curve = &curve, .now = at(0), .deadline = at(horizon)};
    request.work = random.uniform() * horizon * curve[curve.top()].speed / 4;
    request.start_cost = from_seconds(double(random.between(0, 8)));
    if (random.uniform() < 0.5) {
      request.forced = curve.within(free.at(at(0)));
      request.forced_until = std::min(free.until(0), at(double(random.between(1, horizon))));
    }
    SharePlanner fresh;
    SharePlan plan;
    SharePlan again;
    const bool found = fresh.cheapest(free, request, plan);
    ASSERT_EQ(used.cheapest(free, request, again), found) << "seed " << seed;
    if (!found) continue;
    forced += request.forced > 0 && plan.segments.size() == 1;
    ASSERT_EQ(again.slope, plan.slope) << "seed " << seed;
    ASSERT_EQ(again.end, plan.end) << "seed " << seed;
    ASSERT_EQ(again.capacity_s, plan.capacity_s) << "seed " << seed;
  }
  EXPECT_GT(forced, 100);
}

TEST(SharePlan, SoonestIsNeverLaterThanAnyPlan) {
  for (std::uint64_t seed = 1; seed <= 2000; ++seed) {
    Random random(seed);
    const int horizon = static_cast<int>(random.between(2, 12));
    const ScalingCurve curve = random_curve(random, false);
    const Timeline free = random_free(random, static_cast<int>(random.between(1, 8)), horizon);
    if (curve.top() == 0) continue;
    ShareRequest request{.curve = &curve, .now = at(0), .deadline = at(horizon)};
    request.work = random.uniform() * horizon * curve[curve.top()].speed;
    SharePlanner planner;
    SharePlan cheap;
    SharePlan soon;
    const bool ever = planner.soonest(free, request, soon);
    ASSERT_TRUE(ever || curve.within(free.gpus(free.size() - 1)) == 0) << "seed " << seed;
    if (!planner.cheapest(free, request, cheap)) continue;
    ASSERT_LE(soon.done, cheap.end) << "seed " << seed;
  }
}

TEST(SharePlan, ThatIsCarriedOnNeverTakesMoreThanBefore) {
  for (std::uint64_t seed = 1; seed <= 2000; ++seed) {
    Random random(seed);
    const ScalingCurve curve = random_curve(random, true);
    const Timeline free = random_free(random, 8, 50);
    ShareRequest request{.curve = &curve, .now = at(0), .deadline = at(60)};
    request.work = random.uniform() * 40;
    request.start_cost = from_seconds(double(random.between(0, 2)));
    SharePlanner planner;
    SharePlan plan;
    if (!planner.cheapest(free, request, plan)) continue;
    const SharePlan before = plan;
    // It ran exactly as planned up to some instant.
    const Time now = at(random.uniform() * seconds(plan.end));
    ShareRequest later = request;
    later.now = now;
    int option = 0;
    for (std::size_t i = 0; i < before.segments.size() && before.segments[i].from < now; ++i) {
      const auto& segment = before.segments[i];
      if (segment.option != option) later.ready = segment.from + request.start_cost;
      option = segment.option;
      const Time until = std::min(now, before.until(i));
      if (option > 0 && until > later.ready) {
        later.work -= seconds(until - std::max(segment.from, later.ready)) * curve[option].speed;
      }
    }
    later.held = option;
    if (later.work <= 0) continue;
    ASSERT_TRUE(planner.carry_on(later, plan)) << "seed " << seed;
    ASSERT_LE(plan.end, before.end) << "seed " << seed;
    ASSERT_EQ(plan.option_at(now), before.option_at(now)) << "seed " << seed;
  }
}

TEST(SharePlan, ChangesOnlyWithARoundWhereRoundsAreApart) {
  constexpr Duration kApart = std::chrono::seconds(5);
  int changes = 0;
  for (std::uint64_t seed = 1; seed <= 2000; ++seed) {
    Random random(seed);
    const ScalingCurve curve = random_curve(random, seed % 2 == 0);
    Timeline free;
    free.reset(at(0), 8);
    for (int i = 0; i < 3; ++i) {
      const auto from = random.between(0, 9);
      const auto until = random.between(from + 1, 12);
      const int most = free.least(at(5.0 * double(from)), at(5.0 * double(until)));
      free.take(at(5.0 * double(from)), at(5.0 * double(until)),
                static_cast<int>(random.between(0, most)));
    }
    ShareRequest request{.curve = &curve, .now = at(0), .deadline = at(60)};
    request.work = random.uniform() * 200;
    request.start_cost = from_seconds(double(random.between(0, 2)));
    SharePlanner planner(kApart);
    SharePlan plan;
    if (!planner.cheapest(free, request, plan)) continue;
    for (const SharePlan::Segment& segment : plan.segments) {
      ASSERT_EQ(segment.from.time_since_epoch() % kApart, Duration::zero()) << "seed " << seed;
    }
    ASSERT_LE(plan.done, request.deadline);
    changes += static_cast<int>(plan.segments.size()) - 1;
  }
  EXPECT_GT(changes, 500);
}

// One GPU works an iteration a second; a round was just held and the next is ten seconds away.
TEST(SharePlan, CountsOnARiseComingOneRoundLate) {
  const ScalingCurve curve({{1, 1, 1}, {2, 2, 2}});
  ShareRequest request{.curve = &curve, .now = at(100), .deadline = at(200)};
  request.work = 20;
  request.late = std::chrono::seconds(10);
  const auto done_s = [&](std::vector<SharePlan::Segment> segments) {
    SharePlan plan;
    plan.segments = std::move(segments);
    EXPECT_EQ(walk(request, at(200), false, plan), 0);
    return seconds(plan.done);
  };
  EXPECT_EQ(done_s({{at(100), 1}}), 120);                              // at once
  EXPECT_EQ(done_s({{at(100), 0}, {at(103), 1}}), 130);                // with the next round
  EXPECT_EQ(done_s({{at(100), 0}, {at(110), 1}}), 130);                // just then
  EXPECT_EQ(done_s({{at(100), 0}, {at(111), 1}}), 141);                // a round may come before it
  EXPECT_EQ(done_s({{at(100), 0}, {at(103), 2}, {at(105), 1}}), 130);  // never was higher
}

}  // namespace
}  // namespace orrery
