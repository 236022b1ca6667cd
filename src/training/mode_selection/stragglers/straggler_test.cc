#include "training/mode_selection/stragglers/straggler.h"

#include <gtest/gtest.h>

namespace orrery {
namespace {

std::vector<WorkerTime> times(const std::vector<double>& each, double noise_share = 0) {
  std::vector<WorkerTime> result;
  for (std::size_t i = 0; i < each.size(); ++i) {
    result.push_back({.worker = WorkerId(static_cast<int>(i)),
                      .seconds = each[i],
                      .noise_s = noise_share * each[i]});
  }
  return result;
}

TEST(StragglerWatch, SlowerThanTheFastestByAFifthStraggles) {
  StragglerWatch watch({.patience = 1});
  watch.look(times({0.100, 0.119, 0.121}));
  ASSERT_EQ(watch.stragglers().size(), 1u);
  EXPECT_EQ(watch.stragglers()[0], WorkerId(2));
  EXPECT_TRUE(watch.straggles(WorkerId(2)));
}

TEST(StragglerWatch, ShortIterationsDoNotStraggleByAHair) {
  StragglerWatch watch({.patience = 1});
  watch.look(times({0.005, 0.0099}));  // twice as slow, and yet less than 5 ms
  EXPECT_TRUE(watch.stragglers().empty());
  watch.look(times({0.005, 0.0101}));
  EXPECT_EQ(watch.stragglers().size(), 1u);
}

TEST(StragglerWatch, WithinTheNoiseNoWorkerStraggles) {
  StragglerWatch watch({.patience = 1});
  watch.look(times({0.100, 0.130}, 0.10));
  EXPECT_TRUE(watch.stragglers().empty());
  watch.look(times({0.100, 0.130}, 0.05));
  EXPECT_EQ(watch.stragglers().size(), 1u);
}

TEST(StragglerWatch, AmongManyItTakesMoreToBeSure) {
  std::vector<double> each(16, 0.1);
  each.back() = 0.123;
  StragglerWatch soon({.patience = 1});
  soon.look(times(each, 0.045));
  EXPECT_EQ(soon.stragglers().size(), 1u);
  StragglerWatch sure({.patience = 1});
  for (int i = 0; i < 4; ++i) sure.look(times(each, 0.045), true);
  EXPECT_TRUE(sure.stragglers().empty());
  sure.look(times(each, 0.03), true);
  EXPECT_TRUE(sure.stragglers().empty()) << "it has been seen once";
  sure.look(times(each, 0.03), true);
  EXPECT_EQ(sure.stragglers().size(), 1u);
}

TEST(StragglerWatch, AStragglerRemainsOneUntilItIsClearlyBetter) {
  StragglerWatch watch({.patience = 1});
  watch.look(times({0.1, 0.13}));
  ASSERT_EQ(watch.stragglers().size(), 1u);
  watch.look(times({0.1, 0.115}));
  EXPECT_EQ(watch.stragglers().size(), 1u) << "between the two lines the state stays";
  watch.look(times({0.1, 0.109}));
  EXPECT_TRUE(watch.stragglers().empty());
  watch.look(times({0.1, 0.115}));
  EXPECT_TRUE(watch.stragglers().empty());
}

TEST(StragglerWatch, NotKnowingIsNoRecovery) {
  StragglerWatch watch({.patience = 1});
  watch.look(times({0.100, 0.400}, 0.05));
  ASSERT_TRUE(watch.straggles(WorkerId(1)));
  watch.look(times({0.100, 0.400}, 0.5));  // three deviations are more than the difference
  EXPECT_TRUE(watch.straggles(WorkerId(1)));
  watch.look(times({0.100, 0.105}, 0.5));
  EXPECT_FALSE(watch.straggles(WorkerId(1)));
}

TEST(StragglerWatch, OneLookIsNotEnough) {
  StragglerWatch watch({.patience = 2});
  watch.look(times({0.1, 0.4}));
  EXPECT_TRUE(watch.stragglers().empty());
  watch.look(times({0.1, 0.1}));
  watch.look(times({0.1, 0.4}));
  EXPECT_TRUE(watch.stragglers().empty());
  watch.look(times({0.1, 0.4}));
  EXPECT_EQ(watch.stragglers().size(), 1u);
}

TEST(StragglerWatch, AWorkerThatLeftIsForgotten) {
  StragglerWatch watch({.patience = 1});
  watch.look(times({0.1, 0.4}));
  watch.look(times({0.1}));
  EXPECT_TRUE(watch.stragglers().empty());
  EXPECT_FALSE(watch.straggles(WorkerId(1)));
}

TEST(StragglingDegree, IsHowFarTheLongestIsAboveTheMean) {
  EXPECT_DOUBLE_EQ(straggling_degree(times({1, 1, 4})), 1.0);
  EXPECT_DOUBLE_EQ(straggling_degree(times({1, 1})), 0.0);
  EXPECT_DOUBLE_EQ(straggling_degree({}), 0.0);
}

}  // namespace
}  // namespace orrery
