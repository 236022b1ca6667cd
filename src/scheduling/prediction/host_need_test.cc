#include "scheduling/prediction/host_need.h"

#include <gtest/gtest.h>

namespace orrery {
namespace {

constexpr std::int64_t kGigabyte = 1'000'000'000;

// The servers Synergy was evaluated on.
Cluster synergy_servers(int count) {
  Cluster cluster;
  cluster.nodes.resize(static_cast<std::size_t>(count));
  for (Node& node : cluster.nodes) {
    node.gpus = 8;
    node.cpu_milli = 24'000;
    node.memory_bytes = 500 * kGigabyte;
  }
  return cluster;
}

// Two of its models, where their figures matter: with 3, 6 and 12 CPUs by 62.5, 125 and 187.5 GB.
Sensitivity model(const std::vector<double>& speed, HostShare ideal) {
  return {.cpu_milli = {3000, 6000, 12'000},
          .memory_bytes = {62'500'000'000, 125'000'000'000, 187'500'000'000},
          .speed = speed,
          .ideal = ideal};
}

class HostNeedTest : public testing::Test {
 protected:
  HostNeedTest() {
    workload_.sensitivities = {
        model({1, 1, 1, 1.75, 1.75, 1.75, 2, 2.94, 2.94}, {12'000, 125 * kGigabyte}),
        model({1, 1, 1, 1.5, 2, 2.5, 1.5, 2, 2.5}, {6000, 187'500'000'000})};
  }

  HostNeed need(SensitivityId sensitivity, int gpus) const {
    JobSpec spec;
    spec.gpus = gpus;
    spec.sensitivity = sensitivity;
    return host_need(workload_, spec, mean_server(synergy_servers(4)));
  }

  static constexpr SensitivityId kAlexnet{0};
  static constexpr SensitivityId kM5{1};
  Workload workload_;
};

TEST_F(HostNeedTest, OneGpuWantsWhatItsModelWants) {
  const HostNeed wants = need(kAlexnet, 1);
  EXPECT_EQ(wants.fair, (HostShare{3000, 62'500'000'000}));
  EXPECT_EQ(wants.ideal, (HostShare{12'000, 125 * kGigabyte}));
  EXPECT_DOUBLE_EQ(wants.gain, 2.94);
  EXPECT_TRUE(wants.wants_more());
}

TEST_F(HostNeedTest, TheGainShrinksWithTheCpusAServerHas) {
  const HostNeed wants = need(kAlexnet, 4);
  EXPECT_EQ(wants.ideal, (HostShare{24'000, 500 * kGigabyte}));
  EXPECT_NEAR(wants.gain, 1.647, 5e-4);
}

TEST_F(HostNeedTest, AWholeServerHasNothingToGain) {
  const HostNeed wants = need(kAlexnet, 8);
  EXPECT_EQ(wants.ideal, (HostShare{24'000, 500 * kGigabyte}));
  EXPECT_DOUBLE_EQ(wants.gain, 1);
}

TEST_F(HostNeedTest, OnSeveralServersAJobHasItsFairShare) {
  const HostNeed wants = need(kAlexnet, 16);
  EXPECT_EQ(wants.ideal, wants.fair);
  EXPECT_EQ(wants.fair, (HostShare{48'000, 1000 * kGigabyte}));
  EXPECT_DOUBLE_EQ(wants.gain, 1);
}

TEST_F(HostNeedTest, TooLittleMemoryDoesNotShrinkTheGain) {
  const HostNeed wants = need(kM5, 4);
  EXPECT_EQ(wants.ideal, (HostShare{24'000, 500 * kGigabyte}));
  EXPECT_DOUBLE_EQ(wants.gain, 2.5);
}

TEST_F(HostNeedTest, AJobThatSaysWhatItNeedsGetsThat) {
  JobSpec spec;
  spec.gpus = 2;
  spec.cpu_milli = 1500;
  const HostNeed wants = host_need(workload_, spec, mean_server(synergy_servers(4)));
  EXPECT_EQ(wants.fair, (HostShare{1500, 125 * kGigabyte}));
  EXPECT_EQ(wants.ideal, wants.fair);
  EXPECT_FALSE(wants.wants_more());
}

TEST(MeanServer, AFairShareIsWhatEveryServerHasForEachGpu) {
  Cluster cluster = synergy_servers(2);
  cluster.nodes[1].gpus = 3;
  cluster.nodes[1].cpu_milli = 6000;
  cluster.nodes.emplace_back().cpu_milli = 64'000;
  const ServerSize server = mean_server(cluster);
  EXPECT_EQ(server.gpus, 5);
  EXPECT_EQ(server.host.cpu_milli, 15'000);
  EXPECT_EQ(server.each_gpu, (HostShare{2000, 62'500'000'000}));
  Workload workload;
  JobSpec spec;
  spec.gpus = 4;
  EXPECT_EQ(host_need(workload, spec, server).fair, (HostShare{8000, 250 * kGigabyte}));
}

}  // namespace
}  // namespace orrery
