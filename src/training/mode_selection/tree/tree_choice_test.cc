#include "training/mode_selection/tree/tree_choice.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "training/mode_selection/tree/link_use.h"

namespace orrery {
namespace {

// Eight workers with links of 20 bytes a second at a server with one of 20; a gradient is a byte.
struct World {
  World() {
    for (int i = 0; i < 8; ++i) {
      members.push_back(WorkerId{i});
      look.workers.push_back({.worker = WorkerId{i}, .in = 20, .out = 20});
    }
  }
  TreeSituation situation() const {
    return {.look = look, .members = members, .stragglers = stragglers, .waits_for_all = true};
  }

  LinkLook look{.may_in = 20, .may_out = 20, .gradient_bytes = 1, .parameter_bytes = 1};
  std::vector<WorkerId> members{}, stragglers{};
};

std::size_t parents(const ParentPairs& tree) {
  std::vector<WorkerId> all;
  for (const auto& [child, parent] : tree) all.push_back(parent);
  std::ranges::sort(all);
  return static_cast<std::size_t>(std::unique(all.begin(), all.end()) - all.begin());
}

TEST(TreeChoice, TheHighestRateThatATreeBearsIsChosen) {
  const World world;
  const ParentPairs tree = choose_tree(world.situation());
  EXPECT_EQ(tree.size() + parents(tree), 8u) << "each worker is a parent or a child";
  EXPECT_GE(parents(tree), 2u);
}

TEST(TreeChoice, NoTreeIsChosenWhereItCannotSaveTheLeastGain) {
  World world;
  TreeSituation situation = world.situation();
  situation.gain_predicted = 0.05;
  EXPECT_FALSE(choose_tree(situation).empty());
  situation.in_use = 0.04;
  EXPECT_TRUE(choose_tree(situation).empty());
}

TEST(TreeChoice, ALinkWithoutALimitAndASingleWorkerNeedNoTree) {
  World world;
  world.look.may_in = 0;
  EXPECT_TRUE(choose_tree(world.situation()).empty());
  World single;
  single.members.resize(1);
  EXPECT_TRUE(choose_tree(single.situation()).empty());
}

TEST(TreeChoice, AStragglerIsNoParentAndAWorkerThatLeftIsNotNamed) {
  World world;
  world.stragglers = {WorkerId{0}, WorkerId{1}};
  std::erase(world.members, WorkerId{7});
  for (const auto& [child, parent] : choose_tree(world.situation())) {
    EXPECT_GT(parent, WorkerId{1});
    EXPECT_NE(parent, WorkerId{7});
    EXPECT_NE(child, WorkerId{7});
  }
}

TEST(TreeChoice, TasksThatComputeForLongLeaveTheLinkIdle) {
  World world;
  TreeSituation situation = world.situation();
  situation.waits_for_all = false;
  situation.busy_s = 0.1;
  EXPECT_FALSE(choose_tree(situation).empty());
  situation.busy_s = 10;
  EXPECT_TRUE(choose_tree(situation).empty());
}

TEST(ServerLinkUse, BothDirectionsAreWaitedForWhereTheyAlternate) {
  const LinkLook look{.may_in = 10, .may_out = 20};
  const ServerLinkUse alternating = link_use(look, 5, 5, true);
  EXPECT_DOUBLE_EQ(alternating.waited, 0.75);
  EXPECT_EQ(alternating.text(), "50 % in and 25 % out");
  EXPECT_DOUBLE_EQ(link_use(look, 5, 5, false).waited, 0.5);
  EXPECT_EQ(link_use({}, 5, 5, true).waited, 0) << "a link without a limit";
}

TEST(UpdatePace, IsWhatUpdatesUseBetweenTheFirstAndTheLast) {
  UpdatePace pace;
  EXPECT_EQ(pace.samples_per_s(), 0);
  for (int i = 0; i <= 10; ++i) pace.add(Time(std::chrono::seconds(i)), 64);
  EXPECT_DOUBLE_EQ(pace.samples_per_s(), 64);
  EXPECT_TRUE(pace.is_long_enough(6, std::chrono::seconds(10)));
  pace.shorten(6, std::chrono::seconds(3));
  EXPECT_FALSE(pace.is_long_enough(6, std::chrono::seconds(7)));
  EXPECT_TRUE(pace.is_long_enough(6, std::chrono::seconds(6)));
}

}  // namespace
}  // namespace orrery
