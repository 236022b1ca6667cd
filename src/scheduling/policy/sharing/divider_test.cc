#include "scheduling/policy/sharing/divider.h"

#include <gtest/gtest.h>

#include "scheduling/policy/test_view.h"

namespace orrery {
namespace {

class DividerTest : public testing::Test {
 protected:
  explicit DividerTest(int nodes = 1, int gpus = 4) {
    for (int i = 0; i < nodes; ++i) {
      Node& node = world.cluster.nodes.emplace_back();
      node.gpus = gpus;
      node.cpu_milli = 1000 * gpus;
    }
    packer.emplace(world.cluster, std::span<const std::string>(), make_first_fit(0));
  }

  JobSpec& add(double iterations, std::vector<SpeedCurve::Point> points, double start_s = 0) {
    JobSpec& spec = world.add(0, iterations, points.front().gpus, start_s);
    spec.iteration_s = 1 / points.front().iterations_per_s;
    spec.curve = static_cast<CurveId>(world.workload.curves.size());
    world.workload.curves.push_back({std::move(points), {}});
    world.arrived.push_back(spec.id);
    return spec;
  }

  // GPUs by job after one plan, 0 for those who wait.
  std::vector<int> plan(Policy& policy, double now_s) {
    std::vector<int> gpus(world.workload.jobs.size());
    const View view = world.at(now_s);
    for (const JobId job : view.running) {
      gpus[index(job)] = gpu_count(view.job(job).held.devices);
    }
    made.clear();
    policy.plan(view, *packer, made);
    for (const auto& stop : made.stops()) gpus[index(stop.job)] = 0;
    for (const Grant& grant : made.grants()) gpus[index(grant.job)] = gpu_count(grant.devices);
    world.arrived.clear();
    world.ended.clear();
    return gpus;
  }
  // What the plan said happens.
  void carry_out(double now_s) {
    for (const Grant& grant : made.grants()) {
      const int id = static_cast<int>(grant.job);
      if (world.job(id).state != JobState::Running) world.run(id, now_s);
      world.job(id).held = grant;
    }
  }

  TestView world;
  std::optional<Packer> packer;
  Plan made;
};

using Gpus = std::vector<int>;

TEST_F(DividerTest, OnlyCountsThatAreFasterThanFewerGpusAreWorthGiving) {
  add(10, {{1, 46.9}, {2, 37.6}, {4, 56.3}, {8, 23.2}});
  const ScalingCurve curve = options_of(world.at(0), *packer, JobId{0});
  ASSERT_EQ(curve.top(), 2);
  EXPECT_EQ(curve[1].gpus, 1);
  EXPECT_EQ(curve[2].gpus, 4);
}

TEST_F(DividerTest, CountsTheClusterDoesNotHaveAreNotOffered) {
  add(10, {{1, 1}, {2, 2}, {4, 3}, {8, 8}});
  const ScalingCurve curve = options_of(world.at(0), *packer, JobId{0});
  EXPECT_EQ(curve.gpus_max(), 4);
}

TEST_F(DividerTest, CpusGoWithTheGpus) {
  add(10, {{2, 1}, {4, 2}}).cpu_milli = 600;
  const ScalingCurve curve = options_of(world.at(0), *packer, JobId{0});
  EXPECT_EQ(packer->shape(curve[1].shape).cpu_milli, 600);
  EXPECT_EQ(packer->shape(curve[2].shape).cpu_milli, 1200);
}

TEST_F(DividerTest, ARigidJobHasWhatItAsksForOrNothing) {
  world.add(0, 10, 3);
  const ScalingCurve curve = options_of(world.at(0), *packer, JobId{0});
  ASSERT_EQ(curve.top(), 1);
  EXPECT_EQ(curve[1].gpus, 3);
}

TEST_F(DividerTest, OptimusGivesTheNextGpuWhereItSavesMostTime) {
  // With one GPU each: 100 s and 60 s. A second GPU saves the first 100 - 80 = 20 s, the second
  // 60 - 30 = 30 s for one GPU; then two more save it 30 - 20 = 10 s, 5 s a GPU.
  add(100, {{1, 1}, {2, 1.25}, {4, 1.4}});
  add(60, {{1, 1}, {2, 2}, {4, 3}});
  const auto optimus = make_divider(make_optimus(), {});
  EXPECT_EQ(plan(*optimus, 0), (Gpus{2, 2}));
}

TEST_F(DividerTest, OptimusStartsTheJobsOfLeastGpuTimeWhenNotAllCanRun) {
  for (const double iterations : {500.0, 40.0, 300.0, 20.0, 400.0, 30.0}) {
    add(iterations, {{1, 1}, {2, 1.9}});
  }
  const auto optimus = make_divider(make_optimus(), {});
  EXPECT_EQ(plan(*optimus, 0), (Gpus{0, 1, 1, 1, 0, 1}));
  ASSERT_EQ(made.waits().size(), 2U);
  EXPECT_EQ(made.waits()[0].job, JobId{0});
  EXPECT_EQ(made.waits()[1].job, JobId{4});
}

TEST_F(DividerTest, AfsPrefersTheShorterJobIfBothScaleAlike) {
  // Both double with the second GPU: (2-1)/2 = 0.5 is no more than (2-1)/1 = 1.
  add(100, {{1, 1}, {2, 2}, {3, 2.5}});
  add(60, {{1, 1}, {2, 2}, {3, 2.5}});
  const auto afs = make_divider(make_afs(), {});
  // One each; the second goes to the shorter one: 60/2 = 30 s. The next would add (2.5-2)/2 = 0.25
  // to it, against (2-1)/2 = 0.5 for the longer one.
  EXPECT_EQ(plan(*afs, 0), (Gpus{2, 2}));
}

TEST_F(DividerTest, AfsGivesTheLongerJobWhatTheShorterCannotUse) {
  // After one each, the shorter gains (1.1-1)/1 = 0.1, the longer (2-1)/2 = 0.5.
  add(60, {{1, 1}, {2, 1.1}});
  add(100, {{1, 1}, {2, 2}, {3, 3}});
  const auto afs = make_divider(make_afs(), {});
  EXPECT_EQ(plan(*afs, 0), (Gpus{1, 3}));
}

TEST_F(DividerTest, AJobGrowsOnlyIfThatRepaysItsStart) {
  // Ten seconds on two GPUs, eight on four: worth a start of one second, not one of three.
  for (const auto& [start_s, gpus] : {std::pair(3.0, 2), std::pair(1.0, 4)}) {
    for (auto* make : {make_optimus, make_afs}) {
      const auto policy = make_divider(make(), {.quantum = {}});
      world = {};
      world.cluster.nodes.resize(1);
      world.cluster.nodes[0].gpus = 4;
      add(100, {{2, 10}, {4, 12.5}}, start_s);
      add(5, {{2, 10}});
      ASSERT_EQ(plan(*policy, 0), (Gpus{2, 2}));
      carry_out(0);
      world.job(1).state = JobState::Done;
      world.ended = {JobId{1}};
      EXPECT_EQ(plan(*policy, 0)[0], gpus) << start_s;
    }
  }
}

TEST_F(DividerTest, ArrivalsWithinAQuantumGetWhatIsIdleAndNoMore) {
  const auto policy = make_divider(make_optimus(), {.quantum = std::chrono::seconds(60)});
  add(100, {{1, 1}, {2, 2}});
  ASSERT_EQ(plan(*policy, 0), (Gpus{2}));
  carry_out(0);
  packer->current().take(made.grants()[0].devices, {.gpus = 2});
  add(100, {{1, 1}, {3, 3}});
  EXPECT_EQ(plan(*policy, 10), (Gpus{2, 1}));
  EXPECT_EQ(made.wake_at(), time_from_seconds(60));
}

// A job that had grown held all GPUs, and a new one waited 40 s for the end of the quantum.
TEST_F(DividerTest, ANewJobTakesGpusFromAGrownOneAtOnce) {
  for (const bool at_once : {false, true}) {
    world = {};
    world.cluster.nodes.resize(1);
    world.cluster.nodes[0].gpus = 4;
    packer.emplace(world.cluster, std::span<const std::string>(), make_first_fit(0));
    const auto policy = make_divider(make_optimus(), {.newcomers_at_once = at_once});
    add(10'000, {{1, 1}, {2, 2}, {4, 4}});
    ASSERT_EQ(plan(*policy, 0), (Gpus{4}));
    carry_out(0);
    packer->current().take(made.grants()[0].devices, {.gpus = 4});
    add(100, {{2, 1}});
    EXPECT_EQ(plan(*policy, 20), at_once ? (Gpus{2, 2}) : (Gpus{4, 0}));
    if (at_once) continue;
    EXPECT_EQ(made.wake_at(), time_from_seconds(60));
  }
}

TEST_F(DividerTest, ANewJobWaitsForTheQuantumIfNoJobHasGrown) {
  const auto policy = make_divider(make_optimus(), {.newcomers_at_once = true});
  add(10'000, {{4, 4}});
  ASSERT_EQ(plan(*policy, 0), (Gpus{4}));
  carry_out(0);
  packer->current().take(made.grants()[0].devices, {.gpus = 4});
  add(10, {{2, 1}});
  EXPECT_EQ(plan(*policy, 20), (Gpus{4, 0}));
}

TEST_F(DividerTest, AJobThatKeepsItsShareStaysWhereItIs) {
  const auto policy = make_divider(make_afs(), {.quantum = {}});
  add(1000, {{2, 2}});
  add(10, {{1, 1}});
  ASSERT_EQ(plan(*policy, 0), (Gpus{2, 1}));
  carry_out(0);
  const Devices first = world.job(0).held.devices;
  add(5, {{1, 1}});
  ASSERT_EQ(plan(*policy, 1), (Gpus{2, 1, 1}));
  for (const Grant& grant : made.grants()) {
    if (grant.job != JobId{0}) continue;
    EXPECT_EQ(grant.devices, first);
  }
}

}  // namespace
}  // namespace orrery
