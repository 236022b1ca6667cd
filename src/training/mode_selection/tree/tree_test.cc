#include "training/mode_selection/tree/tree.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <vector>

#include "base/random.h"

namespace orrery {
namespace {

TEST(Tree, IsNotBuiltWhereTheLinkBearsAll) {
  const std::vector<TreeWorker> workers(8, {.spare_in = 100, .spare_out = 100});
  const auto tree = plan_tree(workers, {.gradient_bytes_per_s = 10,
                                        .parameter_bytes_per_s = 10,
                                        .server_in = 100,
                                        .server_out = 100});
  ASSERT_TRUE(tree);
  EXPECT_TRUE(tree->empty());
}

TEST(Tree, StragglersAreLeavesAndNoLinkIsOverloaded) {
  Random random(17);
  int built = 0;
  int impossible = 0;
  for (int round = 0; round < 500; ++round) {
    const TreeLinks links{.gradient_bytes_per_s = 10,
                          .parameter_bytes_per_s = 12,
                          .server_in = 10 + 60 * random.uniform(),
                          .server_out = 10 + 80 * random.uniform()};
    std::vector<TreeWorker> workers;
    for (int i = 0; i < 8; ++i) {
      workers.push_back({.worker = WorkerId(i),
                         .spare_in = 60 * random.uniform(),
                         .spare_out = 60 * random.uniform(),
                         .straggles = random.uniform() < 0.3});
    }
    const auto tree = plan_tree(workers, links);
    if (!tree) {
      ++impossible;
      continue;
    }
    std::map<WorkerId, int> children;
    for (const auto& [child, parent] : *tree) ++children[parent];
    const double direct = 8.0 - static_cast<double>(tree->size());
    EXPECT_LE(direct * links.gradient_bytes_per_s, links.limit * links.server_in + 1e-9);
    EXPECT_LE(direct * links.parameter_bytes_per_s, links.limit * links.server_out + 1e-9);
    for (const auto& [parent, count] : children) {
      const TreeWorker& worker = workers[static_cast<std::size_t>(parent)];
      EXPECT_FALSE(worker.straggles);
      EXPECT_LE(count * links.gradient_bytes_per_s, links.limit * worker.spare_in + 1e-9);
      EXPECT_LE(count * links.parameter_bytes_per_s, links.limit * worker.spare_out + 1e-9);
      for (const auto& [child, its_parent] : *tree) EXPECT_NE(child, parent) << "depth two";
    }
    built += !tree->empty();
  }
  EXPECT_GT(built, 50);
  EXPECT_GT(impossible, 50);
}

TEST(Tree, HasAsManyParentsAsTheServerBears) {
  std::vector<TreeWorker> workers;
  for (int i = 0; i < 8; ++i) {
    workers.push_back({.worker = WorkerId(i), .spare_in = 100, .spare_out = 100});
  }
  workers[0].straggles = true;
  workers[1].spare_in = 500;
  workers[1].spare_out = 500;
  const auto tree = plan_tree(workers, {.gradient_bytes_per_s = 10,
                                        .parameter_bytes_per_s = 10,
                                        .server_in = 45,
                                        .server_out = 100});
  ASSERT_TRUE(tree);
  EXPECT_EQ(tree->size(), 4u);
  const auto straggler =
      std::ranges::find(*tree, WorkerId(0), [](const auto& pair) { return pair.first; });
  ASSERT_NE(straggler, tree->end());
  EXPECT_EQ(tree->front().second, WorkerId(1)) << "the worker with the most to spare comes first";
}

}  // namespace
}  // namespace orrery
