#include "training/mode_selection/star/calm_trial.h"

#include <gtest/gtest.h>

namespace orrery {
namespace {

class CalmTrialTest : public testing::Test {
 protected:
  // So many seconds at a pace, with a look each.
  void pass(int seconds, double samples_per_s, bool calm = true) {
    for (int i = 0; i < seconds; ++i) {
      now_.now += std::chrono::seconds(1);
      samples_ += samples_per_s;
      now_.samples_done = static_cast<std::int64_t>(samples_);
      trial_.look(now_, calm);
    }
  }
  // Goes to another mode, and is in it for so long.
  CalmTrial::Verdict tried(double samples_per_s, int seconds, int staleness = 0) {
    const double before = trial_.pace(now_);
    trial_.switched();
    trial_.try_out(before);
    IterationSample gradient;
    gradient.staleness = staleness;
    trial_.add(gradient);
    pass(seconds, samples_per_s);
    return trial_.judge(now_, kLambda);
  }

  static constexpr double kLambda = 0.1;
  CalmTrial trial_;
  Situation now_{.global_batch = 100};
  double samples_ = 0;
};

TEST_F(CalmTrialTest, APaceIsKnownAfterSixteenCalmRounds) {
  pass(15, 100);
  EXPECT_EQ(trial_.pace(now_), 0);
  pass(2, 100);
  EXPECT_NEAR(trial_.pace(now_), 100, 1e-6);
  pass(1, 100, false);
  EXPECT_EQ(trial_.pace(now_), 0) << "somebody straggles";
}

TEST_F(CalmTrialTest, WhatIsFasterStays) {
  pass(20, 100);
  EXPECT_EQ(tried(120, 3, 1), CalmTrial::Verdict::Open);
  pass(5, 120);
  EXPECT_EQ(trial_.judge(now_, kLambda), CalmTrial::Verdict::Helps);
  pass(10, 90);
  EXPECT_EQ(trial_.judge(now_, kLambda), CalmTrial::Verdict::Helps) << "it is judged once";
}

TEST_F(CalmTrialTest, SamplesThatBringLessCountLess) {
  pass(20, 100);
  EXPECT_EQ(tried(120, 8, 3), CalmTrial::Verdict::DoesNot);
}

TEST_F(CalmTrialTest, WhatDidNotHelpIsNotTriedAgainForEightTimesAsLong) {
  pass(20, 100);
  EXPECT_EQ(tried(99, 8), CalmTrial::Verdict::DoesNot);
  trial_.switched();
  pass(128, 100);
  EXPECT_EQ(trial_.pace(now_), 0);
  pass(2, 100);
  EXPECT_NEAR(trial_.pace(now_), 100, 1e-6);
}

TEST_F(CalmTrialTest, WithoutOneOrWithAStragglerThereIsNothingToJudge) {
  pass(20, 100);
  EXPECT_EQ(trial_.judge(now_, kLambda), CalmTrial::Verdict::None);
  tried(120, 3);
  pass(1, 120, false);
  EXPECT_EQ(trial_.judge(now_, kLambda), CalmTrial::Verdict::None);
}

}  // namespace
}  // namespace orrery
