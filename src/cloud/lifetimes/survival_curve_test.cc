#include "cloud/lifetimes/survival_curve.h"

#include <gtest/gtest.h>

#include <cmath>
#include <vector>

namespace orrery {
namespace {

using std::chrono::hours;

TEST(KaplanMeier, ACensoredServerIsAtRiskUntilItIsLost) {
  // By hand: 1 - 1/5, then times 1 - 1/3 since one was lost from sight at 2 h, then 1 - 1/1.
  const std::vector<LifetimeSample> samples = {
      {hours(5), true}, {hours(1), true}, {hours(2), false}, {hours(3), true}, {hours(4), false}};
  const auto curve = kaplan_meier(samples);
  ASSERT_EQ(curve.size(), 3u);
  EXPECT_NEAR(curve[0].survival, 0.8, 1e-12);
  EXPECT_EQ(curve[1].at_risk, 3);
  EXPECT_NEAR(curve[1].survival, 0.8 * 2 / 3, 1e-12);
  EXPECT_NEAR(curve[1].deviation, 0.8 * 2 / 3 * std::sqrt(1.0 / 20 + 1.0 / 6), 1e-12);
  EXPECT_EQ(curve[2].survival, 0);
  EXPECT_EQ(curve[2].deviation, 0);
}

TEST(KaplanMeier, WithoutCensoringItIsTheShareThatIsAlive) {
  const std::vector<LifetimeSample> samples = {
      {hours(1), true}, {hours(1), true}, {hours(2), true}, {hours(9), true}};
  const auto curve = kaplan_meier(samples);
  EXPECT_EQ(survival_at(curve, Duration{}), 1);
  EXPECT_EQ(survival_at(curve, hours(1)), 0.5);
  EXPECT_EQ(survival_at(curve, hours(8)), 0.25);
}

TEST(KaplanMeier, AServerThatIsCensoredAtTheAgeOfARevocationIsAtRiskThere) {
  const std::vector<LifetimeSample> samples = {{hours(1), false}, {hours(1), true}};
  const auto curve = kaplan_meier(samples);
  ASSERT_EQ(curve.size(), 1u);
  EXPECT_EQ(curve[0].survival, 0.5);
}

TEST(KaplanMeier, NoServersGiveNoSteps) { EXPECT_TRUE(kaplan_meier({}).empty()); }

}  // namespace
}  // namespace orrery
