#include "scheduling/policy/published/node_sets.h"

#include <gtest/gtest.h>

namespace orrery {
namespace {

Cluster nodes(int count, int gpus) {
  Node node;
  node.gpus = gpus;
  return {.name = "", .nodes = std::vector<Node>(static_cast<std::size_t>(count), node)};
}

JobId job(int id) { return static_cast<JobId>(id); }

std::vector<std::size_t> sizes(const NodeSets& sets, int gpus) {
  std::vector<std::size_t> sizes;
  const auto found = sets.by_size().find(gpus);
  if (found == sets.by_size().end()) return sizes;
  for (const NodeSets::Set& set : found->second) sizes.push_back(set.jobs.size());
  return sizes;
}

constexpr auto none = [](JobId) { return false; };

TEST(NodeSets, TheLastPlaceOfASetStaysEmptyWhileThereAreIdleNodes) {
  NodeSets sets(nodes(2, 4));
  for (int i = 0; i < 3; ++i) ASSERT_TRUE(sets.add(job(i), 1));
  EXPECT_EQ(sizes(sets, 1), (std::vector<std::size_t>{3}));
  sets.add(job(3), 1);
  EXPECT_EQ(sizes(sets, 1), (std::vector<std::size_t>{1, 3}));
}

TEST(NodeSets, WithoutIdleNodesJobsShareASetInTurns) {
  NodeSets sets(nodes(1, 2));
  for (int i = 0; i < 3; ++i) ASSERT_TRUE(sets.add(job(i), 1));
  const NodeSets::Set& set = sets.by_size().at(1).front();
  EXPECT_EQ(set.holders(), 2u);
  sets.leave(none, true);
  EXPECT_EQ(set.jobs, (std::vector{job(2), job(0), job(1)}));
  sets.leave(none, false);
  EXPECT_EQ(set.jobs, (std::vector{job(2), job(0), job(1)}));
}

TEST(NodeSets, ASizeWithoutASetWaitsUntilNodesAreIdle) {
  NodeSets sets(nodes(1, 4));
  ASSERT_TRUE(sets.add(job(0), 2));
  EXPECT_FALSE(sets.add(job(1), 4));
  EXPECT_FALSE(sets.leave(none, false));
  EXPECT_TRUE(sets.leave([](JobId id) { return id == job(0); }, false));
  EXPECT_TRUE(sets.add(job(1), 4));
}

TEST(NodeSets, HowFullASetIsCountsJobsThatLeft) {
  NodeSets sets(nodes(2, 4));
  for (int i = 0; i < 3; ++i) sets.add(job(i), 1);
  sets.leave([](JobId id) { return id != job(0); }, false);
  sets.add(job(3), 1);
  EXPECT_EQ(sizes(sets, 1), (std::vector<std::size_t>{1, 1}));  // a set of its own
}

TEST(NodeSets, SizesGetNodesByTheGpusTheirJobsAskFor) {
  NodeSets sets(nodes(4, 2));
  for (int i = 0; i < 4; ++i) sets.add(job(i), 1);  // a set each: the last place is never taken
  EXPECT_EQ(sizes(sets, 1).size(), 4u);
  sets.adjust();  // 4 GPUs asked for, 8 held: four sets too many, of which one stays
  EXPECT_EQ(sizes(sets, 1), (std::vector<std::size_t>{4}));
  sets.adjust();  // two GPUs more: two sets of a node, and no job moves into them
  EXPECT_EQ(sizes(sets, 1), (std::vector<std::size_t>{4, 0, 0}));
  EXPECT_TRUE(sets.leave(none, false));
  EXPECT_EQ(sizes(sets, 1), (std::vector<std::size_t>{4}));
}

TEST(NodeSets, AWideSetThatGrowsIsFilledAgain) {
  NodeSets sets(nodes(4, 2));
  sets.add(job(0), 4);
  sets.add(job(1), 4);
  sets.leave([](JobId id) { return id == job(0); }, false);
  sets.add(job(2), 1);
  sets.add(job(3), 1);
  EXPECT_EQ(sizes(sets, 4), (std::vector<std::size_t>{1}));
  sets.add(job(4), 4);  // no two nodes are idle: in time slices with job 1
  EXPECT_EQ(sizes(sets, 4), (std::vector<std::size_t>{2}));
  sets.leave([](JobId id) { return id == job(2) || id == job(3); }, false);
  sets.adjust();
  EXPECT_EQ(sizes(sets, 4), (std::vector<std::size_t>{1, 1}));
}

TEST(NodeSets, TurnsHoldGpusSideBySide) {
  NodeSets sets(nodes(3, 4));
  sets.add(job(0), 6);
  sets.add(job(1), 2);
  const NodeSets::Set& wide = sets.by_size().at(6).front();
  EXPECT_EQ(wide.capacity, 1);
  Devices devices;
  sets.devices(wide, 6, 0, devices);
  EXPECT_EQ(devices, (Devices{{NodeId{0}, 0b1111}, {NodeId{1}, 0b0011}}));
  devices.clear();
  sets.devices(sets.by_size().at(2).front(), 2, 1, devices);
  EXPECT_EQ(devices, (Devices{{NodeId{2}, 0b1100}}));
}

}  // namespace
}  // namespace orrery
