#include <gtest/gtest.h>

#include "scheduling/placement/packer.h"
#include "scheduling/policy/grouping/antman_devices.h"

namespace orrery {
namespace {

using Manner = AntmanDevices::Manner;

class AntmanTest : public testing::Test {
 protected:
  explicit AntmanTest(int nodes = 2, std::int64_t gpu_memory = 0) {
    for (int i = 0; i < nodes; ++i) {
      Node& node = cluster_.nodes.emplace_back();
      node.gpus = 4;
      node.cpu_milli = 4000;
      node.gpu_memory_bytes = gpu_memory;
    }
    ledger.emplace(cluster_, std::span<const std::string>());
    devices.emplace(*ledger, AntmanUse());
  }
  bool reserve(int job, const Shape& shape, Devices& held, Manner manner = Manner::Consolidated) {
    const bool complete = devices->reserve(*ledger, shape, static_cast<JobId>(job), manner, held);
    if (complete) devices->complete(held);
    return complete;
  }
  bool take(int job, const Shape& shape, Devices& held) {
    return devices->take(*ledger, shape, static_cast<JobId>(job), held);
  }
  static Devices on(int node, std::uint64_t gpus) { return {{static_cast<NodeId>(node), gpus}}; }

  std::optional<Ledger> ledger;  // no job is charged in it
  std::optional<AntmanDevices> devices;

 private:
  Cluster cluster_;
};

TEST_F(AntmanTest, AGuaranteedJobGathersItsNodeBitByBit) {
  Devices first;
  Devices second;
  Devices third;
  ASSERT_TRUE(reserve(0, {.gpus = 3}, first));
  ASSERT_TRUE(reserve(1, {.gpus = 2}, second));
  EXPECT_EQ(second, on(1, 0b0011));
  EXPECT_FALSE(reserve(2, {.gpus = 4}, third));
  EXPECT_EQ(third, on(1, 0b1100)) << "where most is open";
  Devices fourth;
  EXPECT_TRUE(reserve(3, {.gpus = 1}, fourth));
  EXPECT_EQ(fourth, on(0, 0b1000)) << "what is reserved is not open";
  devices->release(second, JobId{1}, {.gpus = 2}, true);
  EXPECT_TRUE(reserve(2, {.gpus = 4}, third));
  EXPECT_EQ(third, on(1, 0b1111));
}

TEST_F(AntmanTest, AnOpportunisticJobTakesTheLeastUsedDevicesAnywhere) {
  Devices guaranteed;
  ASSERT_TRUE(reserve(0, {.gpus = 3}, guaranteed));
  Devices held;
  ASSERT_TRUE(take(1, {.gpus = 5}, held));
  const Devices expected = {{NodeId{0}, 0b1000}, {NodeId{1}, 0b1111}};
  EXPECT_EQ(held, expected);
  Devices more;
  EXPECT_FALSE(take(2, {.gpus = 4}, more)) << "three are left beside the guaranteed job";
  EXPECT_TRUE(more.empty());
  EXPECT_TRUE(take(2, {.gpus = 3}, more));
  EXPECT_EQ(more, guaranteed);
}

TEST_F(AntmanTest, AGuaranteedJobMayComeToAnOpportunisticOne) {
  Devices held;
  ASSERT_TRUE(take(0, {.gpus = 8}, held));
  Devices guaranteed;
  EXPECT_TRUE(reserve(1, {.gpus = 4}, guaranteed));
}

TEST_F(AntmanTest, ADeviceIsAsGoodAsNewWhenAllHaveLeft) {
  for (int i = 0; i < 50; ++i) {
    Devices guaranteed;
    Devices held;
    ASSERT_TRUE(reserve(0, {.gpus = 4}, guaranteed)) << i;
    ASSERT_TRUE(take(1, {.gpus = 8}, held)) << i;
    devices->release(guaranteed, JobId{0}, {.gpus = 4}, true);
    devices->release(held, JobId{1}, {.gpus = 8}, true);
  }
}

TEST_F(AntmanTest, NoMoreIsReservedOnANodeThanItsCpusServe) {
  // Two CPUs a GPU, and a node has four: two GPUs of each node.
  const Shape shape{.gpus = 4, .cpu_milli = 8000};
  EXPECT_FALSE(AntmanDevices::consolidates(*ledger, shape));
  Devices held;
  ASSERT_TRUE(reserve(0, shape, held, Manner::Anywhere));
  const Devices expected = {{NodeId{0}, 0b0011}, {NodeId{1}, 0b0011}};
  EXPECT_EQ(held, expected);
}

TEST_F(AntmanTest, AllAtOnceOrNothing) {
  Devices first;
  ASSERT_TRUE(reserve(0, {.gpus = 3}, first));
  Devices held;
  EXPECT_FALSE(reserve(1, {.gpus = 6}, held, Manner::AnywhereAtOnce));
  EXPECT_TRUE(held.empty());
  EXPECT_TRUE(reserve(1, {.gpus = 5}, held, Manner::AnywhereAtOnce));
}

class AntmanMemoryTest : public AntmanTest {
 protected:
  AntmanMemoryTest() : AntmanTest(1, 40) {}
};

TEST_F(AntmanMemoryTest, SharesADeviceOnlyWhereBothFit) {
  Devices guaranteed;
  ASSERT_TRUE(reserve(0, {.gpus = 4, .gpu_memory_bytes = 30}, guaranteed));
  Devices held;
  EXPECT_FALSE(take(1, {.gpus = 1, .gpu_memory_bytes = 11}, held));
  EXPECT_TRUE(take(1, {.gpus = 1, .gpu_memory_bytes = 10}, held));
}

TEST_F(AntmanMemoryTest, DevicesWithMemoryComeFirst) {
  Devices held;
  ASSERT_TRUE(take(0, {.gpus = 1, .gpu_memory_bytes = 20}, held));
  ASSERT_EQ(held, on(0, 0b0001));
  Devices guaranteed;
  EXPECT_TRUE(reserve(1, {.gpus = 3, .gpu_memory_bytes = 30}, guaranteed));
  EXPECT_EQ(guaranteed, on(0, 0b1110));
}

TEST_F(AntmanMemoryTest, AnEarlierJobIsNotKeptFromMemoryByALaterOne) {
  Devices held;
  ASSERT_TRUE(take(0, {.gpus = 1, .gpu_memory_bytes = 20}, held));
  Devices earlier;
  Devices later;
  EXPECT_FALSE(reserve(1, {.gpus = 4, .gpu_memory_bytes = 30}, earlier));
  EXPECT_FALSE(reserve(2, {.gpus = 2, .gpu_memory_bytes = 10}, later));
  EXPECT_TRUE(later.empty());
  devices->release(held, JobId{0}, {.gpus = 1, .gpu_memory_bytes = 20}, true);
  EXPECT_TRUE(reserve(1, {.gpus = 4, .gpu_memory_bytes = 30}, earlier));
}

}  // namespace
}  // namespace orrery
