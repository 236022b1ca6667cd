#include "live/agent/machine.h"

#include <gtest/gtest.h>

#include <numeric>

#include "live/agent/test_jobs.h"

namespace orrery {
namespace {

constexpr std::int64_t kGiB = std::int64_t{1} << 30;

class MachineTest : public testing::Test {
 protected:
  MachineTest() {
    tree_.write("proc/meminfo", "MemTotal:       16777216 kB\nMemFree:  1 kB\n");
    tree_.write("sys/devices/system/cpu/online", "0-7\n");
    tree_.write("sys/devices/system/node/online", "0-1\n");
    tree_.write("sys/devices/system/node/node0/cpulist", "0-3\n");
    tree_.write("sys/devices/system/node/node1/cpulist", "4-7\n");
  }

  Machine look(std::vector<int> affinity = {0, 1, 2, 3, 4, 5, 6, 7}) {
    auto machine = detect_machine({.root = tree_.path(), .affinity = affinity, .gpus_declared = 0});
    EXPECT_TRUE(machine.ok()) << (machine.ok() ? "" : machine.error().message);
    return std::move(machine).value();
  }

  TestFolder tree_;
};

TEST_F(MachineTest, CpusAreThoseOfTheMaskOnTheirNumaNodes) {
  const Machine machine = look({1, 2, 6, 9});
  ASSERT_EQ(machine.numa.size(), 2u);
  EXPECT_EQ(machine.numa[0].cpus, (std::vector<int>{1, 2}));
  EXPECT_EQ(machine.numa[1].cpus, std::vector<int>{6});
  EXPECT_EQ(machine.numa[1].id, 1);
  EXPECT_EQ(machine.memory_bytes, 16 * kGiB);
}

TEST_F(MachineTest, ANodeWithoutUsableCpusIsLeftOut) {
  const Machine machine = look({4, 5});
  ASSERT_EQ(machine.numa.size(), 1u);
  EXPECT_EQ(machine.numa[0].id, 1);
}

TEST_F(MachineTest, AKernelWithoutNumaHasOneNode) {
  std::filesystem::remove_all(tree_ / "sys/devices/system/node");
  EXPECT_EQ(look().numa.size(), 1u);
  EXPECT_EQ(look().cpu_count(), 8);
}

TEST_F(MachineTest, LimitsOfCgroupVersionTwoCountOfAllAncestors) {
  tree_.write("proc/self/cgroup", "0::/a/b\n");
  tree_.write("sys/fs/cgroup/a/cpu.max", "550000 100000\n");
  tree_.write("sys/fs/cgroup/a/b/cpu.max", "max 100000\n");
  tree_.write("sys/fs/cgroup/a/memory.max", std::to_string(4 * kGiB) + "\n");
  tree_.write("sys/fs/cgroup/a/b/memory.max", "max\n");
  EXPECT_EQ(look().cpu_count(), 5);
  EXPECT_EQ(look().memory_bytes, 4 * kGiB);
}

TEST_F(MachineTest, LimitsOfCgroupVersionOneCount) {
  tree_.write("proc/self/cgroup", "5:memory:/m\n4:cpu,cpuacct:/c\n0::/\n");
  tree_.write("sys/fs/cgroup/cpu,cpuacct/c/cpu.cfs_quota_us", "50000\n");
  tree_.write("sys/fs/cgroup/cpu,cpuacct/c/cpu.cfs_period_us", "100000\n");
  tree_.write("sys/fs/cgroup/memory/m/memory.limit_in_bytes", std::to_string(kGiB) + "\n");
  tree_.write("sys/fs/cgroup/memory/memory.limit_in_bytes", "9223372036854771712\n");
  EXPECT_EQ(look().cpu_count(), 1) << "half a CPU is still one to hand out";
  EXPECT_EQ(look().memory_bytes, kGiB);
}

TEST_F(MachineTest, NoQuotaIsNoLimit) {
  tree_.write("proc/self/cgroup", "4:cpu:/\n");
  tree_.write("sys/fs/cgroup/cpu/cpu.cfs_quota_us", "-1\n");
  tree_.write("sys/fs/cgroup/cpu/cpu.cfs_period_us", "100000\n");
  EXPECT_EQ(look().cpu_count(), 8);
}

TEST_F(MachineTest, WhatCannotBeReadIsNamed) {
  tree_.write("sys/devices/system/node/node1/cpulist", "four\n");
  const auto machine = detect_machine({.root = tree_.path(), .gpus_declared = 0});
  ASSERT_FALSE(machine.ok());
  EXPECT_NE(machine.error().message.find("node1/cpulist"), std::string::npos);
}

TEST(Machine, ThisOneHasCpusAndMemory) {
  const auto machine = detect_machine({.gpus_declared = 3});
  ASSERT_TRUE(machine.ok()) << machine.error().message;
  EXPECT_GE(machine.value().cpu_count(), 1);
  EXPECT_GT(machine.value().memory_bytes, 1 << 20);
  ASSERT_EQ(machine.value().gpus.size(), 3u);
  EXPECT_EQ(machine.value().gpus[2].cuda_name(), "2");
}

TEST(Gpus, AreThoseTheDriverReports) {
  const auto gpus = detect_gpus(FAKE_NVML);
  ASSERT_TRUE(gpus.ok()) << gpus.error().message;
  ASSERT_EQ(gpus.value().size(), 2u);
  EXPECT_EQ(gpus.value()[0].name, "Fake 9000");
  EXPECT_EQ(gpus.value()[0].memory_bytes, 16 * kGiB);
  EXPECT_EQ(gpus.value()[1].cuda_name(), "GPU-2");
  EXPECT_EQ(gpus.value()[1].memory_bytes, 0);
  EXPECT_EQ(gpus.value()[0].device, "/dev/nvidia6");
  EXPECT_EQ(gpus.value()[1].device, "/dev/nvidia5");
}

TEST(Gpus, NoDriverMeansNone) {
  const auto gpus = detect_gpus("libno-such-driver.so.1");
  ASSERT_TRUE(gpus.ok());
  EXPECT_TRUE(gpus.value().empty());
}

TEST(Gpus, ALibraryThatIsNoDriverIsAnError) {
  const auto gpus = detect_gpus("libm.so.6");
  ASSERT_FALSE(gpus.ok());
  EXPECT_NE(gpus.error().message.find("libm.so.6: has no nvmlInit_v2"), std::string::npos);
}

TEST(Gpus, TheRealDriverAnswers) {
  const auto gpus = detect_gpus("libnvidia-ml.so.1");
  ASSERT_TRUE(gpus.ok()) << gpus.error().message;
  if (gpus.value().empty()) GTEST_SKIP() << "no NVIDIA driver on this machine";
  for (const Gpu& gpu : gpus.value()) {
    std::printf("GPU %d: %s, %s, %lld bytes\n", gpu.index, gpu.name.c_str(), gpu.uuid.c_str(),
                static_cast<long long>(gpu.memory_bytes));
    EXPECT_EQ(gpu.uuid.rfind("GPU-", 0), 0u);
    EXPECT_GT(gpu.memory_bytes, kGiB);
  }
}

}  // namespace
}  // namespace orrery
