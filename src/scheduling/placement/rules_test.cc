#include <gtest/gtest.h>

#include <set>

#include "scheduling/placement/packer.h"

namespace orrery {
namespace {

constexpr std::uint64_t kAll8 = 0xff;

struct Machines {
  Cluster cluster;

  Machines(int switches, int nodes, int gpus) {
    for (int i = 0; i < switches * nodes; ++i) {
      Node& node = cluster.nodes.emplace_back();
      node.gpus = gpus;
      node.switch_index = i / nodes;
    }
  }
  Packer packer(const char* rule, std::uint64_t seed = 0) const {
    return Packer(cluster, {}, std::move(make_placement_rule(rule, seed)).value());
  }
};

void busy(Packer& packer, int node, std::uint64_t gpus) {
  packer.current().take(Devices{{static_cast<NodeId>(node), gpus}}, {});
}

Devices place(Packer& packer, int gpus) {
  Devices devices;
  packer.place(packer.current(), packer.intern({.gpus = gpus}), devices);
  return devices;
}

Devices on(int node, std::uint64_t gpus) { return {{static_cast<NodeId>(node), gpus}}; }

TEST(Consolidated, TakesTheFirstNodeThatFitsAndItsLowestGpus) {
  Packer packer = Machines(1, 3, 8).packer("consolidated");
  busy(packer, 0, 0b0111'1111);
  busy(packer, 1, 0b0000'0101);
  EXPECT_EQ(place(packer, 1), on(0, 0b1000'0000));
  EXPECT_EQ(place(packer, 2), on(1, 0b0000'1010));
}

TEST(Consolidated, DoesNotSplitAJobThatFitsANode) {
  Packer packer = Machines(1, 2, 8).packer("consolidated");
  busy(packer, 0, 0b0000'0001);
  busy(packer, 1, 0b0000'0001);
  EXPECT_EQ(place(packer, 8), Devices());
  EXPECT_EQ(packer.why_not(packer.current(), packer.intern({.gpus = 8})).code,
            Reason::Code::Fragmented);
}

TEST(Consolidated, ALargeJobTakesIdleNodesAndItsRemainderFromOneMore) {
  Packer packer = Machines(1, 4, 8).packer("consolidated");
  busy(packer, 0, 0b0000'0001);
  const Devices expected = {{NodeId{1}, kAll8}, {NodeId{2}, kAll8}, {NodeId{0}, 0b0001'1110}};
  EXPECT_EQ(place(packer, 20), expected);
}

TEST(Consolidated, ALargeJobStaysUnderOneSwitch) {
  Packer packer = Machines(2, 2, 8).packer("consolidated");
  busy(packer, 0, 0b1);
  const Devices expected = {{NodeId{2}, kAll8}, {NodeId{3}, kAll8}};
  EXPECT_EQ(place(packer, 16), expected);
}

TEST(Consolidated, ALargeJobWaitsForASwitchThatHoldsAllOfIt) {
  Packer packer = Machines(2, 2, 8).packer("consolidated");
  busy(packer, 0, 0b1);
  busy(packer, 2, 0b1);
  EXPECT_EQ(place(packer, 16), Devices());
  EXPECT_EQ(gpu_count(place(packer, 15)), 15);
}

TEST(Consolidated, AJobLargerThanASwitchSpansSeveral) {
  Packer packer = Machines(2, 2, 8).packer("consolidated");
  EXPECT_EQ(gpu_count(place(packer, 32)), 32);
}

TEST(FirstFit, TakesWhatIsFreeInNodeOrderHoweverScattered) {
  Packer packer = Machines(1, 3, 4).packer("first-fit");
  busy(packer, 0, 0b0111);
  busy(packer, 1, 0b1100);
  const Devices expected = {{NodeId{0}, 0b1000}, {NodeId{1}, 0b0011}, {NodeId{2}, 0b0001}};
  EXPECT_EQ(place(packer, 4), expected);
}

TEST(BestFit, LeavesTheLargeHolesWhole) {
  Packer packer = Machines(1, 3, 8).packer("best-fit");
  busy(packer, 1, 0b0000'1111);
  busy(packer, 2, 0b0011'1111);
  EXPECT_EQ(place(packer, 2), on(2, 0b1100'0000));
  EXPECT_EQ(place(packer, 2), on(1, 0b0011'0000));
}

TEST(BestFit, ALargeJobSpansFewNodes) {
  Packer packer = Machines(1, 3, 8).packer("best-fit");
  busy(packer, 0, 0b0000'1111);
  const Devices expected = {{NodeId{1}, kAll8}, {NodeId{2}, 0b1}};
  EXPECT_EQ(place(packer, 9), expected);
}

TEST(Spread, EvensOutTheLoad) {
  Packer packer = Machines(1, 3, 4).packer("spread");
  busy(packer, 0, 0b0011);
  const Devices expected = {{NodeId{1}, 0b0011}, {NodeId{2}, 0b0011}};
  EXPECT_EQ(place(packer, 4), expected);
}

TEST(RandomFit, DependsOnItsSeedAndNothingElse) {
  const Machines machines(1, 16, 1);
  const auto sequence = [&](std::uint64_t seed) {
    Packer packer = machines.packer("random", seed);
    std::vector<Devices> all;
    for (int i = 0; i < 8; ++i) all.push_back(place(packer, 1));
    return all;
  };
  EXPECT_EQ(sequence(7), sequence(7));
  EXPECT_NE(sequence(7), sequence(8));
  std::set<int> firsts;
  for (std::uint64_t seed = 0; seed < 100; ++seed) {
    firsts.insert(static_cast<int>(sequence(seed)[0].front().node));
  }
  EXPECT_GT(firsts.size(), 12u) << "every node comes first at times";
}

TEST(Topology, StaysInTheTightestNode) {
  Packer packer = Machines(2, 2, 8).packer("topology");
  busy(packer, 2, 0b0000'0011);
  EXPECT_EQ(place(packer, 6), on(2, 0b1111'1100));
}

TEST(Topology, ALargeJobTakesTheTightestSwitchThatHoldsAllOfIt) {
  Packer packer = Machines(3, 2, 8).packer("topology");
  busy(packer, 0, kAll8);
  busy(packer, 2, 0b1);
  const Devices expected = {{NodeId{3}, kAll8}, {NodeId{2}, 0b10}};
  EXPECT_EQ(place(packer, 9), expected);
}

TEST(Topology, AJobLargerThanASwitchStartsFromTheEmptiest) {
  Packer packer = Machines(3, 2, 4).packer("topology");
  busy(packer, 0, 0b1);
  const Devices expected = {{NodeId{2}, 0xf}, {NodeId{3}, 0xf}, {NodeId{4}, 0x3}};
  EXPECT_EQ(place(packer, 10), expected);
}

TEST(PlacementRules, AnUnknownNameSaysWhichThereAre) {
  const auto unknown = make_placement_rule("tetris", 0);
  ASSERT_FALSE(unknown.ok());
  EXPECT_NE(unknown.error().message.find("'tetris'"), std::string::npos);
  EXPECT_NE(unknown.error().message.find("consolidated, first-fit"), std::string::npos);
}

TEST(Packer, KnowsWhatCanNeverRunAndWhy) {
  Machines machines(1, 2, 8);
  for (Node& node : machines.cluster.nodes) node.cpu_milli = 1000;
  Packer packer = machines.packer("consolidated");
  const auto large = packer.infeasible(packer.intern({.gpus = 17}));
  ASSERT_TRUE(large);
  EXPECT_EQ(*large, (Reason{.code = Reason::Code::TooLarge, .wanted = 17, .available = 16}));
  const auto greedy = packer.infeasible(packer.intern({.gpus = 1, .cpu_milli = 1001}));
  ASSERT_TRUE(greedy);
  EXPECT_EQ(greedy->code, Reason::Code::NoSuchNode);
  EXPECT_FALSE(packer.infeasible(packer.intern({.gpus = 16, .cpu_milli = 2000})));
}

TEST(Packer, EqualShapesAreOne) {
  Packer packer = Machines(1, 1, 8).packer("spread");
  const ShapeId one = packer.intern({.gpus = 2, .memory_bytes = 5});
  EXPECT_EQ(packer.intern({.gpus = 2, .memory_bytes = 5}), one);
  EXPECT_NE(packer.intern({.gpus = 2, .memory_bytes = 6}), one);
  EXPECT_EQ(packer.shape_count(), 2u);
}

TEST(Packer, SaysHowManyGpusAreFreeToOneThatWaits) {
  Packer packer = Machines(1, 1, 8).packer("first-fit");
  busy(packer, 0, 0b0011'1111);
  EXPECT_EQ(packer.why_not(packer.current(), packer.intern({.gpus = 4})),
            (Reason{.code = Reason::Code::GpusBusy, .wanted = 4, .available = 2}));
}

Devices place_lasting(Packer& packer, int gpus) {
  Devices devices;
  packer.place(packer.current(), packer.intern({.gpus = gpus, .lasting = true}), devices);
  return devices;
}

TEST(Survival, LongJobsGoToNodesThatAreSeldomLostAndShortOnesToTheOthers) {
  Machines machines(1, 3, 8);
  machines.cluster.nodes[0].losses_per_day = 0.3;
  machines.cluster.nodes[1].losses_per_day = 0.1;
  machines.cluster.nodes[2].losses_per_day = 0.2;
  Packer packer = machines.packer("survival");
  EXPECT_EQ(place_lasting(packer, 2), on(1, 0b11));
  EXPECT_EQ(place(packer, 2), on(0, 0b11));
  busy(packer, 1, 0b1111'1100);
  EXPECT_EQ(place_lasting(packer, 2), on(2, 0b11));
}

TEST(Survival, NodesThatAreLostVeryOftenAreTakenLast) {
  Machines machines(1, 3, 8);
  machines.cluster.nodes[0].losses_per_day = 0.5;
  machines.cluster.nodes[1].losses_per_day = 0.1;
  machines.cluster.nodes[2].losses_per_day = 0.05;
  Packer packer = machines.packer("survival");
  EXPECT_EQ(place(packer, 8), on(1, kAll8));
  EXPECT_EQ(place(packer, 8), on(2, kAll8));
  EXPECT_EQ(place(packer, 8), on(0, kAll8));
}

TEST(Survival, ALargeJobIsUnderTheSwitchThatIsLeastLikelyToLoseANode) {
  Machines machines(2, 2, 8);
  machines.cluster.nodes[0].losses_per_day = 0.1;
  machines.cluster.nodes[1].losses_per_day = 0.9;
  machines.cluster.nodes[2].losses_per_day = 0.2;
  machines.cluster.nodes[3].losses_per_day = 0.2;
  Packer packer = machines.packer("survival");
  EXPECT_EQ(place_lasting(packer, 16), (Devices{{NodeId{2}, kAll8}, {NodeId{3}, kAll8}}));
}

TEST(Survival, ALargeJobIsInOneZoneAlsoWhereItsNodesStandApart) {
  Machines machines(1, 4, 8);
  for (int node = 0; node < 4; ++node) {
    machines.cluster.nodes[static_cast<std::size_t>(node)].zone = node % 2;
  }
  Packer packer = machines.packer("survival");
  EXPECT_EQ(place_lasting(packer, 16), (Devices{{NodeId{0}, kAll8}, {NodeId{2}, kAll8}}));
  EXPECT_EQ(place_lasting(packer, 16), (Devices{{NodeId{1}, kAll8}, {NodeId{3}, kAll8}}));
}

TEST(Survival, AJobLargerThanItsZonesSpansThem) {
  Machines machines(1, 2, 8);
  machines.cluster.nodes[0].zone = 0;
  machines.cluster.nodes[1].zone = 1;
  Packer packer = machines.packer("survival");
  EXPECT_EQ(place_lasting(packer, 16), (Devices{{NodeId{0}, kAll8}, {NodeId{1}, kAll8}}));
}

TEST(Survival, WithoutRisksNodesAreTakenInTheirOrder) {
  Packer packer = Machines(1, 2, 8).packer("survival");
  EXPECT_EQ(place(packer, 8), on(0, kAll8));
  EXPECT_EQ(place_lasting(packer, 8), on(1, kAll8));
}

TEST(Survival, ALargeJobWaitsForWholeNodesOfItsSwitch) {
  Packer packer = Machines(2, 2, 8).packer("survival");
  busy(packer, 0, 1);
  busy(packer, 2, 1);
  EXPECT_TRUE(place(packer, 16).empty());
  EXPECT_EQ(place(packer, 12), (Devices{{NodeId{1}, kAll8}, {NodeId{0}, 0b1'1110}}));
}

}  // namespace
}  // namespace orrery
