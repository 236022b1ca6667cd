#include "scheduling/policy/published/node_fill.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "base/random.h"

namespace orrery {
namespace {

Cluster alike(int nodes, int gpus) {
  Cluster cluster;
  cluster.nodes.resize(static_cast<std::size_t>(nodes));
  for (Node& node : cluster.nodes) node.gpus = gpus;
  return cluster;
}

TEST(NodeFill, PowersOfTwoNeverFragmentTheLargestFirst) {
  Random random(3);
  for (int round = 0; round < 500; ++round) {
    const int gpus_per_node = 1 << (1 + random.between(0, 3 - 1));
    const int nodes = 1 + static_cast<int>(random.between(0, 20 - 1));
    const Cluster cluster = alike(nodes, gpus_per_node);
    std::vector<int> sizes;
    for (int left = nodes * gpus_per_node; left > 0; left -= sizes.back()) {
      int size = 1 << random.between(0, 6 - 1);
      while (size > left) size /= 2;
      sizes.push_back(size);
    }
    std::ranges::sort(sizes, std::ranges::greater{});
    NodeFill fill(cluster);
    fill.clear();
    std::vector<std::uint64_t> taken(cluster.nodes.size(), 0);
    for (const int size : sizes) {
      Devices devices;
      ASSERT_TRUE(fill.place(size, devices));
      ASSERT_EQ(gpu_count(devices), size);
      for (const NodeShare& share : devices) {
        ASSERT_EQ(taken[index(share.node)] & share.gpus, 0u);
        taken[index(share.node)] |= share.gpus;
        ASSERT_LT(share.gpus, 1ULL << gpus_per_node);
      }
    }
    Devices devices;
    EXPECT_FALSE(fill.place(1, devices));
  }
}

TEST(NodeFill, ServesNodesThatAreAlike) {
  Cluster cluster = alike(3, 8);
  EXPECT_TRUE(NodeFill::serves(cluster));
  cluster.nodes[1].gpus = 4;
  EXPECT_FALSE(NodeFill::serves(cluster));
}

}  // namespace
}  // namespace orrery
