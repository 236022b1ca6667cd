#include "scheduling/placement/ledger.h"

#include <gtest/gtest.h>

namespace orrery {
namespace {

Cluster two_nodes() {
  Cluster cluster;
  for (int i = 0; i < 2; ++i) {
    Node& node = cluster.nodes.emplace_back();
    node.gpus = 4;
    node.cpu_milli = 10'000;
    node.memory_bytes = 100;
    node.switch_index = i;
  }
  return cluster;
}

TEST(Ledger, ADeviceIsFreeAgainWhenTheLastOneLetsGo) {
  Ledger ledger(two_nodes(), {});
  const Devices devices = {{NodeId{0}, 0b0011}};
  const Shape shape{.gpus = 2};
  ledger.take(devices, shape);
  ledger.take(devices, shape);
  ledger.release(devices, shape);
  EXPECT_EQ(ledger.free_mask(0), 0b1100u);
  ledger.release(devices, shape);
  EXPECT_EQ(ledger.free_mask(0), 0b1111u);
}

TEST(Ledger, UndoTakesBackSharedDevicesToo) {
  Ledger ledger(two_nodes(), {});
  const Devices devices = {{NodeId{0}, 0b0011}};
  const Shape shape{.gpus = 2};
  ledger.take(devices, shape);
  const Ledger::Mark mark = ledger.mark();
  ledger.take(devices, shape);
  ledger.release(devices, shape);
  ledger.release(devices, shape);
  EXPECT_EQ(ledger.free_mask(0), 0b1111u);
  ledger.undo(mark);
  EXPECT_EQ(ledger.free_mask(0), 0b1100u);
  ledger.undo(0);
  EXPECT_EQ(ledger.free_mask(0), 0b1111u);
}

TEST(Ledger, MarksNest) {
  Ledger ledger(two_nodes(), {});
  const Shape shape{.gpus = 1};
  const Ledger::Mark outer = ledger.mark();
  ledger.take(Devices{{NodeId{0}, 1}}, shape);
  const Ledger::Mark inner = ledger.mark();
  ledger.take(Devices{{NodeId{1}, 1}}, shape);
  ledger.undo(inner);
  EXPECT_EQ(ledger.gpus_free(), 7);
  ledger.undo(outer);
  EXPECT_EQ(ledger.gpus_free(), 8);
}

TEST(Ledger, NodesGiveCpusInProportionToTheirGpusRoundedUp) {
  Ledger ledger(two_nodes(), {});
  const Shape shape{.gpus = 3, .cpu_milli = 1000};
  ledger.take(Devices{{NodeId{0}, 0b11}, {NodeId{1}, 0b1}}, shape);
  EXPECT_EQ(ledger.free_cpu_milli(0), 10'000 - 667);
  EXPECT_EQ(ledger.free_cpu_milli(1), 10'000 - 334);
}

TEST(Ledger, GpusFitAsFarAsCpusAndMemoryAllow) {
  const Ledger ledger(two_nodes(), {});
  EXPECT_EQ(ledger.gpus_fitting(0, {.gpus = 4, .cpu_milli = 16'000}), 2);
  EXPECT_EQ(ledger.gpus_fitting(0, {.gpus = 4, .memory_bytes = 133}), 3);
  EXPECT_EQ(ledger.gpus_fitting(0, {.gpus = 4, .memory_bytes = 134}), 2);
  EXPECT_EQ(ledger.gpus_fitting(0, {.gpus = 2}), 2);
  EXPECT_EQ(ledger.gpus_fitting(0, {.gpus = 8}), 4);
}

TEST(Ledger, AJobIsServedByItsTypeOrByOneThatIsNotKnown) {
  Cluster cluster = two_nodes();
  cluster.nodes[0].gpu_type = "V100";
  const std::vector<std::string> names = {"a-user", "A100", "V100"};
  const Ledger ledger(cluster, names);
  EXPECT_FALSE(ledger.serves(0, {.gpu_type = NameId{1}}));
  EXPECT_TRUE(ledger.serves(0, {.gpu_type = NameId{2}}));
  EXPECT_TRUE(ledger.serves(1, {.gpu_type = NameId{1}}));
  EXPECT_TRUE(ledger.serves(0, {}));
}

TEST(Ledger, ATypeThatNoJobNamesServesOnlyJobsThatNameNone) {
  Cluster cluster = two_nodes();
  cluster.nodes[0].gpu_type = "T4";
  const std::vector<std::string> names = {"V100"};
  const Ledger ledger(cluster, names);
  EXPECT_FALSE(ledger.serves(0, {.gpu_type = NameId{0}}));
  EXPECT_TRUE(ledger.serves(0, {}));
}

TEST(Ledger, GpuMemoryBindsWhereItIsKnown) {
  Cluster cluster = two_nodes();
  cluster.nodes[0].gpu_memory_bytes = 16;
  const Ledger ledger(cluster, {});
  EXPECT_TRUE(ledger.serves(0, {.gpu_memory_bytes = 16}));
  EXPECT_FALSE(ledger.serves(0, {.gpu_memory_bytes = 17}));
  EXPECT_TRUE(ledger.serves(1, {.gpu_memory_bytes = 17}));
}

TEST(Ledger, AWholeWordOfGpusIsCounted) {
  Cluster cluster;
  cluster.nodes.emplace_back().gpus = kGpusPerNodeMax;
  Ledger ledger(cluster, {});
  EXPECT_EQ(ledger.gpus_free(), 64);
  ledger.take(Devices{{NodeId{0}, ledger.lowest_free(0, 64)}}, {.gpus = 64});
  EXPECT_EQ(ledger.gpus_free(), 0);
  EXPECT_EQ(ledger.first_fit(0, 1, 1, {}), 1);
}

TEST(Ledger, ClearFreesEverythingButKeepsTheMachines) {
  Ledger ledger(two_nodes(), {});
  const Devices devices = {{NodeId{1}, 0b1111}};
  ledger.take(devices, {.gpus = 4, .cpu_milli = 100});
  ledger.take(devices, {.gpus = 4, .cpu_milli = 100});
  ledger.clear();
  EXPECT_EQ(ledger.gpus_free(), 8);
  EXPECT_EQ(ledger.free_cpu_milli(1), 10'000);
  EXPECT_EQ(ledger.switch_count(), 2);
  ledger.take(devices, {.gpus = 4});
  ledger.release(devices, {.gpus = 4});
  EXPECT_EQ(ledger.gpus_free(), 8);
}

TEST(Ledger, DevicesCanBeTakenIfTheyAndWhatGoesWithThemAreFree) {
  Cluster cluster;
  cluster.nodes.resize(2);
  for (Node& node : cluster.nodes) {
    node.gpus = 4;
    node.cpu_milli = 4000;
  }
  Ledger ledger(cluster, {});
  const Shape shape{.gpus = 3, .cpu_milli = 6000};
  EXPECT_TRUE(ledger.can_take(Devices{{NodeId{0}, 0b11}, {NodeId{1}, 0b1}}, shape));
  ledger.take(Devices{{NodeId{1}, 0b1}}, {.gpus = 1, .cpu_milli = 1000});
  EXPECT_FALSE(ledger.can_take(Devices{{NodeId{0}, 0b11}, {NodeId{1}, 0b1}}, shape)) << "a GPU";
  EXPECT_TRUE(ledger.can_take(Devices{{NodeId{0}, 0b11}, {NodeId{1}, 0b10}}, shape));
  EXPECT_FALSE(ledger.can_take(Devices{{NodeId{0}, 0b1}, {NodeId{1}, 0b110}}, shape)) << "CPUs";
}

}  // namespace
}  // namespace orrery
