#include "scheduling/policy/deadline/slot_planner.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "base/random.h"

namespace orrery {
namespace {

constexpr int kTotal = 32;
constexpr std::int64_t kSlot = 60;

struct Scene {
  Workload workload;
  SlotTimeline free;
  std::int64_t now = 0;

  ScalingCurve curve(int most = kTotal) const {
    return measured_options(workload, workload.jobs[0], most);
  }
};

// A job with a curve that mostly rises, and some GPUs taken here and there until all are free.
Scene random_scene(Random& random) {
  Scene scene;
  scene.now = random.between(0, 1000 - 1);
  JobSpec& job = scene.workload.jobs.emplace_back();
  job.curve = CurveId{0};
  SpeedCurve& curve = scene.workload.curves.emplace_back();
  double speed = 0.5 + random.uniform();
  for (int gpus = 1; gpus <= kTotal; gpus *= 2) {
    curve.points.push_back({gpus, speed});
    speed *= 1 + random.uniform();
  }
  std::int64_t at = scene.now;
  for (int i = 0; i < 6; ++i) {
    scene.free.append(at, static_cast<int>(random.between(0, kTotal + 1 - 1)));
    at += kSlot * (1 + random.between(0, 5 - 1));
  }
  scene.free.append(at, kTotal);
  return scene;
}

double work_of(const ScalingCurve& curve, const SlotTimeline& gpus, std::int64_t end) {
  double work = 0;
  for (std::size_t i = 0; i < gpus.size() && gpus.from(i) < end; ++i) {
    const std::int64_t until = std::min(gpus.until(i), end);
    if (gpus.gpus(i) > 0) {
      work += static_cast<double>(until - gpus.from(i)) * curve.speed_within(gpus.gpus(i));
    }
  }
  return work;
}

TEST(SlotPlanner, APlanFitsIntoWhatIsFreeAndDoesTheWork) {
  Random random(1);
  for (int round = 0; round < 3000; ++round) {
    const Scene scene = random_scene(random);
    const ScalingCurve curve = scene.curve();
    SlotPlanner planner(scene.now, kSlot, kTotal);
    const SlotPlanner::Request request{.curve = &curve,
                                       .work_left = 1 + 4000 * random.uniform(),
                                       .deadline = scene.now + 60 + random.between(0, 4000 - 1)};
    planner.plan(request, scene.free);
    SlotTimeline own;
    SlotTimeline rest;
    planner.write(own, rest);
    ASSERT_LE(planner.done(), planner.end());
    ASSERT_GE(work_of(curve, own, planner.done()), request.work_left - 1e-6);
    for (std::int64_t at = scene.now; at < planner.end() + kSlot; at += kSlot) {
      const int held = at < planner.end() ? own.at(at) : 0;
      ASSERT_GE(rest.at(at), 0);
      ASSERT_EQ(rest.at(at) + held, scene.free.at(at)) << "at " << at - scene.now;
    }
  }
}

TEST(SlotPlanner, WeighsWhatItWouldPlan) {
  Random random(2);
  for (int round = 0; round < 3000; ++round) {
    const Scene scene = random_scene(random);
    const ScalingCurve curve = scene.curve();
    SlotPlanner planner(scene.now, kSlot, kTotal);
    SlotPlanner::Request request{.curve = &curve,
                                 .work_left = 1 + 4000 * random.uniform(),
                                 .deadline = scene.now + 60 + random.between(0, 4000 - 1)};
    planner.plan(request, scene.free);
    SlotTimeline own;
    SlotTimeline rest;
    planner.write(own, rest);
    const SlotPlanner::Held held{.gpus = &own, .end = planner.end()};
    request.now_gpus = curve.gpus_above(own.gpus(0));
    if (request.now_gpus - own.gpus(0) > rest.gpus(0)) continue;
    planner.plan(request, rest, &held);
    const std::int64_t planned = planner.gpu_seconds();
    ASSERT_EQ(planner.weigh(request, rest, held), planned);
  }
}

TEST(SlotPlanner, UsesTheSmallestOptionThatIsEnoughAsLateAsPossible) {
  Scene scene;
  JobSpec& job = scene.workload.jobs.emplace_back();
  job.curve = CurveId{0};
  scene.workload.curves.emplace_back().points = {{1, 1}, {2, 1.9}, {4, 3.5}};
  const ScalingCurve curve = scene.curve();
  SlotPlanner planner(0, kSlot, 8);
  SlotTimeline own;
  SlotTimeline rest;
  planner.plan({.curve = &curve, .work_left = 500, .deadline = 600}, {{0, 8}});
  planner.write(own, rest);
  EXPECT_EQ(own, (SlotTimeline{{0, 1}}));
  EXPECT_EQ(planner.done(), 500);
  EXPECT_EQ(planner.end(), 540);
  EXPECT_EQ(rest, (SlotTimeline{{0, 7}, {540, 8}}));
  // One GPU until others let go, two afterwards.
  planner.plan({.curve = &curve, .work_left = 800, .deadline = 600}, {{0, 1}, {240, 8}});
  planner.write(own, rest);
  EXPECT_EQ(own, (SlotTimeline{{0, 1}, {240, 2}}));
}

TEST(SlotPlanner, AJobThatCannotBeInTimeTakesWhatItCanGet) {
  Scene scene;
  JobSpec& job = scene.workload.jobs.emplace_back();
  job.curve = CurveId{0};
  scene.workload.curves.emplace_back().points = {{1, 1}, {2, 2}};
  const ScalingCurve curve = scene.curve();
  SlotPlanner planner(0, kSlot, 8);
  planner.plan({.curve = &curve, .work_left = 1000, .deadline = 120}, {{0, 8}});
  EXPECT_EQ(planner.done(), 500);
  planner.plan({.curve = &curve, .work_left = 1000, .deadline = -300}, {{0, 8}});
  EXPECT_EQ(planner.done(), 500);
}

}  // namespace
}  // namespace orrery
