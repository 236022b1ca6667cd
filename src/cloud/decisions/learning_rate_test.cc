#include "cloud/decisions/learning_rate.h"

#include <gtest/gtest.h>

namespace orrery {
namespace {

// Rates of the published experiment: 0.1 by 1 to 4 workers, and by 20 slots.
TEST(LearningRate, FollowsTheLiveWorkersAsPublished) {
  EXPECT_NEAR(0.1 * rate_factor(RateRule::InverseRoot, 1, 1, 20), 0.1, 1e-12);
  EXPECT_NEAR(0.1 * rate_factor(RateRule::InverseRoot, 2, 1, 20), 0.0707, 1e-4);
  EXPECT_NEAR(0.1 * rate_factor(RateRule::InverseRoot, 3, 1, 20), 0.0577, 1e-4);
  EXPECT_NEAR(0.1 * rate_factor(RateRule::InverseRoot, 4, 1, 20), 0.05, 1e-12);
  EXPECT_NEAR(0.1 * rate_factor(RateRule::Naive, 4, 1, 20), 0.0224, 1e-4);
}

TEST(LearningRate, OtherRulesAreLinearOrNone) {
  EXPECT_EQ(rate_factor(RateRule::Linear, 2, 8, 8), 0.25);
  EXPECT_EQ(rate_factor(RateRule::None, 2, 8, 8), 1);
  EXPECT_EQ(rate_factor(RateRule::Linear, 0, 0, 0), 1);
}

TEST(LearningRate, RulesReadBackWhatTheyPrint) {
  for (int i = 0; i <= static_cast<int>(RateRule::Naive); ++i) {
    const auto rule = static_cast<RateRule>(i);
    EXPECT_EQ(rate_rule_of(text_of(rule)), rule);
  }
  EXPECT_EQ(rate_rule_of("adaptive"), std::nullopt);
}

}  // namespace
}  // namespace orrery
