#include "scheduling/policy/grouping/grouper.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "scheduling/policy/grouping/device_assignment.h"
#include "scheduling/policy/grouping/layout.h"
#include "scheduling/policy/test_view.h"

namespace orrery {
namespace {

// Profiles 0 to 2 are busy with a resource each, 3 has other slots, 4 is a very long 1.
class GrouperTest : public testing::Test {
 protected:
  GrouperTest() {
    for (const std::vector<double>& stage_s :
         std::vector<std::vector<double>>{{1, .01, .01}, {.01, 1, .01}, {.01, .01, 1}}) {
      jobs.workload.profiles.push_back({.stage_s = stage_s, .slots = {2, 1, 1}});
    }
    jobs.workload.profiles.push_back({.stage_s = {1, 1}, .slots = {1, 1}});
    jobs.workload.profiles.push_back({.stage_s = {.01, 30, .01}, .slots = {2, 1, 1}});
  }
  void add(int profile, int gpus = 1) {
    JobSpec& spec = jobs.add(0, 100, gpus);
    spec.profile = static_cast<ProfileId>(profile);
    double sum_s = 0;
    if (profile >= 0) {
      for (const double stage_s : jobs.workload.profiles[static_cast<std::size_t>(profile)].stage_s)
        sum_s += stage_s;
      spec.iteration_s = sum_s;
    }
  }
  // One bucket with all jobs of that many GPUs, in the order they were added.
  Bucket bucket(Grouper& grouper, int gpus = 1, int size_max = 4) {
    Bucket bucket{.gpus = gpus, .size_max = size_max};
    for (const JobSpec& spec : jobs.workload.jobs) {
      if (spec.gpus == gpus) bucket.groups.push_back(grouper.single(spec.id));
    }
    return bucket;
  }
  std::vector<std::vector<int>> merged(const GroupingOptions& options, int gpus, int size_max = 4) {
    Grouper grouper(jobs.workload, options, {});
    std::vector<Bucket> buckets = {bucket(grouper, 1, size_max)};
    grouper.merge(buckets, gpus);
    return members(buckets[0]);
  }
  static std::vector<std::vector<int>> members(const Bucket& bucket) {
    std::vector<std::vector<int>> all;
    for (const Group& group : bucket.groups) {
      auto& one = all.emplace_back();
      for (const JobId job : group.members()) one.push_back(static_cast<int>(job));
      std::ranges::sort(one);
    }
    return all;
  }
  using Groups = std::vector<std::vector<int>>;

  TestView jobs;
};

TEST_F(GrouperTest, NoJobSharesWhileAllFit) {
  for (int i = 0; i < 3; ++i) add(i);
  EXPECT_EQ(merged({}, 3), (Groups{{0}, {1}, {2}}));
}

TEST_F(GrouperTest, JobsThatDoNotMeetArePutTogether) {
  for (const int profile : {0, 1, 1, 0}) add(profile);
  for (const auto& group : merged({}, 2)) {
    ASSERT_EQ(group.size(), 2u);
    const auto profile = [&](int job) {
      return jobs.workload.jobs[static_cast<std::size_t>(job)].profile;
    };
    EXPECT_NE(profile(group[0]), profile(group[1]));
  }
}

TEST_F(GrouperTest, MergingStopsAsSoonAsAllFit) {
  for (const int profile : {0, 1, 1, 0}) add(profile);
  EXPECT_EQ(merged({}, 3).size(), 3u);
}

TEST_F(GrouperTest, NoGroupIsLargerThanPackingOrThanFitsTheDevices) {
  for (int i = 0; i < 9; ++i) add(i % 3);
  for (const int packing : {1, 2, 3, 4}) {
    for (const int size_max : {1, 2, 4}) {
      for (const bool matching : {true, false}) {
        GroupingOptions options;
        options.packing = packing;
        options.matching = matching;
        options.gain_min = 1;
        for (const auto& group : merged(options, 1, size_max)) {
          EXPECT_LE(static_cast<int>(group.size()), std::min(packing, size_max));
        }
      }
    }
  }
}

TEST_F(GrouperTest, APairThatGainsTooLittleStaysApart) {
  add(1);
  add(1);
  EXPECT_EQ(merged({.gain_min = 1.05}, 1).size(), 2u) << "both want the same resource";
  add(0);
  EXPECT_EQ(merged({.gain_min = 1.05}, 1).size(), 2u) << "but one of them pairs with another";
  EXPECT_EQ(merged({.gain_min = 50}, 1).size(), 3u);
}

TEST_F(GrouperTest, NoJobIsSlowedDownBeyondTheLimit) {
  add(0);
  add(4);  // thirty times as long: the short one would wait for it in every cycle
  EXPECT_EQ(merged({.gain_min = 0.5, .slowdown_max = 8}, 1).size(), 2u);
  EXPECT_EQ(merged({.gain_min = 0.5, .slowdown_max = 100}, 1).size(), 1u);
}

TEST_F(GrouperTest, JobsWithoutAProfileOrWithOtherSlotsStayApart) {
  add(-1);
  add(0);
  add(3);
  EXPECT_EQ(merged({.gain_min = 1, .slowdown_max = 1e6}, 1).size(), 3u);
  EXPECT_EQ(merged({.by_efficiency = true}, 1).size(), 3u);
  EXPECT_EQ(merged({.matching = false}, 1).size(), 3u);
}

TEST_F(GrouperTest, ThePairThatLosesLeastComesFirst) {
  for (const int profile : {0, 0, 1, 1}) add(profile);
  // The similar pair would do; the one that does not meet loses less.
  add(2);
  GroupingOptions options;
  options.best_first = true;
  options.packing = 2;
  const Groups groups = merged(options, 4);
  ASSERT_EQ(groups.size(), 4u);
  for (const auto& group : groups) EXPECT_NE(group, (std::vector{0, 1}));
}

TEST_F(GrouperTest, JobsThatRunTogetherArePairedAgain) {
  for (const int profile : {0, 0, 1, 1}) add(profile);
  Grouper grouper(jobs.workload, {.packing = 2}, {});
  Bucket crossed{.gpus = 1, .size_max = 4};
  const std::array<GroupId, 4> before = {GroupId{7}, GroupId{5}, GroupId{5}, GroupId{7}};
  for (int i = 0; i < 4; ++i) {
    crossed.groups.push_back(
        grouper.single(static_cast<JobId>(i), before[static_cast<std::size_t>(i)]));
  }
  std::vector<Bucket> buckets = {crossed};
  EXPECT_TRUE(grouper.merge(buckets, 2));
  Groups groups = members(buckets[0]);
  std::ranges::sort(groups);
  EXPECT_EQ(groups, (Groups{{0, 3}, {1, 2}}));
}

Cluster nodes(int count, int gpus) {
  Cluster cluster;
  for (int i = 0; i < count; ++i) {
    cluster.nodes.emplace_back().gpus = gpus;
    cluster.nodes.back().gpu_memory_bytes = 16;
  }
  return cluster;
}

TEST(Layout, AsManyShareAsFitTheMemory) {
  Packer packer(nodes(1, 8), {}, make_consolidated(0));
  EXPECT_EQ(Layout::size_max(packer, packer.intern({.gpus = 2, .gpu_memory_bytes = 5}), 4), 3);
  EXPECT_EQ(Layout::size_max(packer, packer.intern({.gpus = 2, .gpu_memory_bytes = 16}), 4), 1);
  EXPECT_EQ(Layout::size_max(packer, packer.intern({.gpus = 2}), 4), 4);
}

class DeviceAssignmentTest : public testing::Test {
 protected:
  // A job that runs on these GPUs of a node; none: it waits.
  void add(int gpus, int node = -1, std::uint64_t held = 0) {
    const int id = static_cast<int>(jobs.workload.jobs.size());
    jobs.add(0, 100, gpus);
    jobs.job(id).shape = packer.intern({.gpus = gpus});
    if (node < 0) return;
    jobs.run(id, id);
    jobs.job(id).held.devices = {{static_cast<NodeId>(node), held}};
  }
  std::vector<AssignedGroup> assign() {
    Grouper grouper(jobs.workload, {}, {});
    std::vector<AssignedGroup> assigned;
    const View view = jobs.at(100);
    for (const JobSpec& spec : jobs.workload.jobs) {
      assigned.push_back(
          {.group = grouper.single(spec.id), .shape = view.job(spec.id).shape, .gpus = spec.gpus});
    }
    DeviceAssignment().assign(view, packer, assigned);
    return assigned;
  }
  static Devices on(int node, std::uint64_t gpus) { return {{static_cast<NodeId>(node), gpus}}; }

  Cluster cluster = nodes(2, 4);
  Packer packer{cluster, {}, make_consolidated(0)};
  TestView jobs;
};

TEST_F(DeviceAssignmentTest, ARunningJobStaysWhereItIs) {
  add(1, 1, 0b1000);
  add(2, 0, 0b1100);
  add(3);
  const auto assigned = assign();
  ASSERT_EQ(assigned.size(), 3u);
  EXPECT_EQ(assigned[0].devices, on(1, 0b1000));
  EXPECT_EQ(assigned[1].devices, on(0, 0b1100));
  EXPECT_EQ(assigned[2].devices, on(1, 0b0111));
}

TEST_F(DeviceAssignmentTest, AHoleIsMadeByMovingAsFewAsPossible) {
  add(2, 0, 0b0011);
  add(1, 1, 0b1000);
  add(4);
  const auto assigned = assign();
  ASSERT_EQ(assigned.size(), 3u);
  EXPECT_EQ(assigned[0].devices, on(0, 0b0011)) << "the emptier node is cleared";
  EXPECT_EQ(static_cast<int>(assigned[1].devices[0].node), 0);
  EXPECT_EQ(assigned[2].devices, on(1, 0b1111));
}

TEST_F(DeviceAssignmentTest, AJobThatRanksBehindAndDoesNotFitIsLeftOut) {
  add(4);
  add(4);
  add(4, 0, 0b1111);
  const auto assigned = assign();
  ASSERT_EQ(assigned.size(), 2u);
  EXPECT_EQ(assigned[0].group.jobs[0], JobId{0});
  EXPECT_EQ(assigned[1].group.jobs[0], JobId{1});
}

}  // namespace
}  // namespace orrery
