#include "training/twin/ranking.h"

#include <gtest/gtest.h>

#include <vector>

namespace orrery {
namespace {

using Values = std::vector<std::pair<double, double>>;

TEST(Ranking, PairsWithinTheNoiseAreNoOrder) {
  const Ranking found = rank(Values{{10, 12}, {11, 9}, {20, 30}}, 0.2);
  EXPECT_EQ(found.pairs, 2);
  EXPECT_EQ(found.alike, 2);
  EXPECT_NEAR(found.correlation, 0.5, 1e-9);
}

TEST(Ranking, WhatIsPredictedTheOtherWayRoundIsCounted) {
  const Ranking found = rank(Values{{10, 3}, {20, 2}, {30, 1}}, 0.2);
  EXPECT_EQ(found.pairs, 3);
  EXPECT_EQ(found.alike, 0);
  EXPECT_NEAR(found.correlation, -1, 1e-9);
}

TEST(Ranking, EqualValuesShareTheirRanks) {
  EXPECT_NEAR(rank(Values{{1, 5}, {1, 5}, {2, 6}}, 0.1).correlation, 1, 1e-9);
  EXPECT_EQ(rank(Values{{1, 5}, {1, 5}, {2, 6}}, 0.1).pairs, 2);
}

}  // namespace
}  // namespace orrery
