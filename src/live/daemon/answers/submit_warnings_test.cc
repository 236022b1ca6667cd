#include "live/daemon/answers/submit_warnings.h"

#include <gtest/gtest.h>

namespace orrery {
namespace {

using std::chrono::hours;

constexpr std::int64_t kGiB = std::int64_t{1} << 30;

std::vector<LiveNode> cluster() {
  std::vector<LiveNode> nodes(2);
  for (LiveNode& node : nodes) {
    node.offer = {
        .name = "n", .gpus = 4, .cpu_milli = 16'000, .memory_bytes = 64 * kGiB, .gpu_type = "A100"};
  }
  return nodes;
}

TEST(SubmitWarnings, AJobThatFitsIsNotWarnedOf) {
  EXPECT_EQ(never_fits({.gpus = 8, .memory_bytes = 128 * kGiB}, cluster()), "");
  EXPECT_EQ(never_fits({.gpus = 1, .memory_bytes = 64 * kGiB}, cluster()), "");
  EXPECT_EQ(never_fits({.gpus = 16, .gpus_min = 2, .gpus_max = 16}, cluster()), "");
  EXPECT_EQ(never_fits({.gpus = 64}, {}), "");  // the first node may be about to join
}

TEST(SubmitWarnings, WhatTheClusterLacksIsNamed) {
  EXPECT_EQ(never_fits({.gpus = 1, .gpu_type = "H100"}, cluster()),
            "no node has GPUs of type 'H100'; the cluster has A100");
  EXPECT_EQ(never_fits({.gpus = 9}, cluster()), "it asks for 9 GPUs, the cluster has 8");
  EXPECT_EQ(never_fits({.gpus = 1, .memory_bytes = 500 * kGiB}, cluster()),
            "it asks for 500 GiB of memory on 1 GPU, the largest node has 64 GiB");
  EXPECT_EQ(never_fits({.gpus = 2, .cpu_milli = 100'000}, cluster()),
            "it asks for 100 CPUs on 2 GPUs, the largest node has 16");
}

TEST(SubmitWarnings, ANodeThatIsDrainedOrLostStillCounts) {
  std::vector<LiveNode> nodes = cluster();
  nodes[0].state = NodeState::Lost;
  nodes[1].draining = true;
  EXPECT_EQ(never_fits({.gpus = 8}, nodes), "");
  nodes[0].state = NodeState::Removed;
  EXPECT_NE(never_fits({.gpus = 8}, nodes), "");
}

TEST(SubmitWarnings, AssumedTimesAndIgnoredDeadlinesAreSaid) {
  const auto nodes = cluster();
  EXPECT_TRUE(submit_warnings({.expected = hours(2)}, nodes, "las", hours(1)).empty());
  EXPECT_EQ(
      submit_warnings({}, nodes, "las", hours(1)),
      (std::vector<std::string>{"--time is missing: the scheduler assumes that the job runs 1h"}));
  const JobRequest due{.expected = hours(2), .deadline = hours(3)};
  EXPECT_TRUE(submit_warnings(due, nodes, "elasticflow", hours(1)).empty());
  const auto ignored = submit_warnings(due, nodes, "las", hours(1));
  ASSERT_EQ(ignored.size(), 1U);
  EXPECT_TRUE(ignored[0].starts_with("the policy las ignores the deadline; ")) << ignored[0];
  EXPECT_NE(ignored[0].find("orrery-deadline"), std::string::npos);
}

}  // namespace
}  // namespace orrery
