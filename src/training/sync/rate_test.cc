#include "training/sync/rate.h"

#include <gtest/gtest.h>

namespace orrery {
namespace {

TEST(RateRule, RisesDuringTheWarmUpAndFallsAtEachStep) {
  const RateRule rule{.base = 0.4, .warm_up_samples = 100, .steps = {{1000, 0.1}, {2000, 0.5}}};
  EXPECT_DOUBLE_EQ(rule.at(0, 8, 8), 0);
  EXPECT_DOUBLE_EQ(rule.at(25, 8, 8), 0.1);
  EXPECT_DOUBLE_EQ(rule.at(100, 8, 8), 0.4);
  EXPECT_DOUBLE_EQ(rule.at(999, 8, 8), 0.4);
  EXPECT_DOUBLE_EQ(rule.at(1000, 8, 8), 0.04);
  EXPECT_DOUBLE_EQ(rule.at(2000, 8, 8), 0.02);
}

TEST(RateRule, FollowsTheNumberOfWorkersFromWhatTheRunBeganWith) {
  RateRule rule{.base = 0.1};
  EXPECT_DOUBLE_EQ(rule.at(0, 2, 8), 0.1);
  rule.scaling = RateScaling::Linear;
  EXPECT_DOUBLE_EQ(rule.at(0, 2, 8), 0.025);
  EXPECT_DOUBLE_EQ(rule.at(0, 16, 8), 0.2);
  rule.scaling = RateScaling::SquareRoot;
  EXPECT_DOUBLE_EQ(rule.at(0, 2, 8), 0.05);
}

TEST(RateRule, InverseSquareRootIsTheRateOfOneWorkerOverTheRootOfTheirNumber) {
  const RateRule rule{.base = 0.1, .scaling = RateScaling::InverseSquareRoot, .workers = 20};
  EXPECT_DOUBLE_EQ(rule.at(0, 1, 8), 0.1);
  EXPECT_DOUBLE_EQ(rule.at(0, 4, 8), 0.05);
  EXPECT_DOUBLE_EQ(rule.factor(4, 8), 0.5);
}

TEST(RateRule, AResumedRunKnowsForHowManyTheRateWasMeant) {
  const RateRule rule{.base = 0.4, .scaling = RateScaling::Linear, .workers = 4};
  EXPECT_DOUBLE_EQ(rule.at(0, 2, 2), 0.2);
  EXPECT_DOUBLE_EQ(rule.at(0, 8, 2), 0.8);
}

TEST(RateScaling, IsReadByName) {
  EXPECT_EQ(parse_rate_scaling("none").value(), RateScaling::None);
  EXPECT_EQ(parse_rate_scaling("linear").value(), RateScaling::Linear);
  EXPECT_EQ(parse_rate_scaling("sqrt").value(), RateScaling::SquareRoot);
  EXPECT_EQ(parse_rate_scaling("inverse-sqrt").value(), RateScaling::InverseSquareRoot);
  EXPECT_EQ(parse_rate_scaling("log").error().message,
            "no learning-rate rule 'log': none, linear, sqrt or inverse-sqrt");
}

}  // namespace
}  // namespace orrery
