#include "scheduling/prediction/scaling_curve.h"

#include <gtest/gtest.h>

#include <cmath>

#include "base/random.h"

namespace orrery {
namespace {

TEST(ScalingCurve, HasTheOptionsItWasGivenAndOneOfNoGpu) {
  const ScalingCurve curve({{1, 1, 2}, {2, 4, 1.5}, {4, 8, 3}});
  ASSERT_EQ(curve.size(), 4);
  EXPECT_EQ(curve[0], GpuOption{});
  EXPECT_EQ(curve.top(), 3);
  EXPECT_EQ(curve.gpus_max(), 4);
  EXPECT_EQ(curve[2].speed, 1.5);
  EXPECT_EQ(curve.option_of(2), 2);
  EXPECT_EQ(curve.option_of(3), 0);
  EXPECT_EQ(curve.slope(1, 3), 1.0 / 7);
}

TEST(ScalingCurve, WithinACapacityIsTheHighestOptionThatFits) {
  const ScalingCurve curve({{1, 1, 2}, {2, 4, 2.5}, {4, 8, 3}});
  EXPECT_EQ(curve.within(-1), 0);
  EXPECT_EQ(curve.within(0), 0);
  EXPECT_EQ(curve.within(3), 1);
  EXPECT_EQ(curve.within(4), 2);
  EXPECT_EQ(curve.within(7), 2);
  EXPECT_EQ(curve.within(1000), 3);
  EXPECT_EQ(curve.gpus_within(7), 2);
  EXPECT_EQ(curve.speed_within(7), 2.5);
}

TEST(ScalingCurve, AboveTheTopOptionThereIsNoOther) {
  const ScalingCurve curve({{2, 2, 1}, {4, 4, 2}});
  EXPECT_EQ(curve.gpus_above(0), 2);
  EXPECT_EQ(curve.gpus_above(2), 4);
  EXPECT_EQ(curve.gpus_above(4), 4);
}

TEST(ScalingCurve, WithoutOptionsCannotRun) {
  EXPECT_EQ(ScalingCurve().top(), 0);
  EXPECT_EQ(ScalingCurve().within(8), 0);
  EXPECT_EQ(ScalingCurve::with_hull({}).top(), 0);
  EXPECT_EQ(ScalingCurve::with_hull({{1, 1, 0}, {2, 2, -1}, {4, 4, NAN}}).top(), 0);
}

TEST(ScalingCurve, WithHullLeavesOutOptionsThatAreNoFaster) {
  const auto curve = ScalingCurve::with_hull({{4, 4, 3}, {1, 1, 2}, {2, 2, 1.5}, {8, 8, 3}});
  ASSERT_EQ(curve.size(), 3);
  EXPECT_EQ(curve[1].gpus, 1);
  EXPECT_EQ(curve[2].gpus, 4);
  EXPECT_EQ(curve.within(3), 1);
  EXPECT_EQ(curve.within(100), 2);
  EXPECT_EQ(curve.option_of(2), 0);
}

TEST(ScalingCurve, WithHullKeepsTheFasterOfTwoOptionsWithTheSameCapacity) {
  const auto curve = ScalingCurve::with_hull({{3, 4, 2}, {4, 4, 2.5}, {5, 8, 2.5}});
  ASSERT_EQ(curve.size(), 2);
  EXPECT_EQ(curve[1].gpus, 4);
}

TEST(ScalingCurve, WithHullKeepsPowersOfTwoOfALongCurve) {
  std::vector<GpuOption> options;
  for (int gpus = 1; gpus <= 100; ++gpus) options.push_back({gpus, gpus, std::sqrt(gpus)});
  const auto curve = ScalingCurve::with_hull(options);
  EXPECT_EQ(curve.size(), ScalingCurve::kHullOptionsMax);
  for (int gpus = 1; gpus <= 64; gpus *= 2) EXPECT_GT(curve.option_of(gpus), 0) << gpus;
}

// For every limit, walking its edges upwards visits the concave hull: from option 0 to the limit,
// with falling slopes, and no option lies above it.
TEST(ScalingCurve, HullEdgesAreTheConcaveHullWithinEveryLimit) {
  for (std::uint64_t seed = 1; seed <= 500; ++seed) {
    Random random(seed);
    std::vector<GpuOption> options;
    double speed = 0;
    int gpus = 0;
    for (auto i = random.between(1, 8); i > 0; --i) {
      gpus += static_cast<int>(random.between(1, 3));
      options.push_back({gpus, gpus, speed += random.uniform()});
    }
    const auto curve = ScalingCurve::with_hull(options);
    for (int limit = 1; limit < curve.size(); ++limit) {
      int reached = 0;
      double last = std::numeric_limits<double>::infinity();
      for (const auto& edge : curve.hull_edges()) {
        if ((edge.limits >> limit & 1) == 0) continue;
        ASSERT_EQ(edge.from, reached) << "seed " << seed;
        ASSERT_LE(edge.slope, last) << "seed " << seed;
        for (int option = edge.from + 1; option < edge.to; ++option) {
          ASSERT_LE(curve.slope(edge.from, option), edge.slope * (1 + 1e-12)) << "seed " << seed;
        }
        reached = edge.to;
        last = edge.slope;
      }
      ASSERT_EQ(reached, limit) << "seed " << seed;
    }
  }
}

TEST(ScalingCurve, MeasuredOptionsEndAtTheMost) {
  Workload workload;
  workload.curves.push_back({.points = {{1, 1}, {2, 1.8}, {4, 1.7}, {8, 3}}});
  JobSpec job;
  job.curve = CurveId{0};
  const ScalingCurve curve = measured_options(workload, job, 4);
  ASSERT_EQ(curve.top(), 3);
  EXPECT_EQ(curve[3].gpus, 4);
  EXPECT_EQ(curve[3].speed, 1.7) << "also one that is slower";
}

TEST(ScalingCurve, AJobThatWasNotMeasuredHasWhatItAskedFor) {
  JobSpec job;
  job.gpus = 3;
  job.iteration_s = 0.5;
  const ScalingCurve curve = measured_options(Workload{}, job, 2);
  ASSERT_EQ(curve.top(), 1);
  EXPECT_EQ(curve[1].gpus, 3);
  EXPECT_EQ(curve[1].speed, 2);
}

}  // namespace
}  // namespace orrery
