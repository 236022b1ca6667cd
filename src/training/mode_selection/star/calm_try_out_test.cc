#include "training/mode_selection/star/calm_try_out.h"

#include <gtest/gtest.h>

namespace orrery {
namespace {

class CalmTryOutTest : public testing::Test {
 protected:
  // Some seconds at a pace, with a look each.
  void pass(int seconds, double samples_per_s, bool calm = true) {
    for (int i = 0; i < seconds; ++i) {
      now_.now += std::chrono::seconds(1);
      samples_ += samples_per_s;
      now_.samples_done = static_cast<std::int64_t>(samples_);
      try_out_.look(now_, calm);
    }
  }
  // Goes to another mode, and is in it for so long.
  CalmTryOut::Verdict tried(double samples_per_s, int seconds, int staleness = 0) {
    const double before = try_out_.pace(now_);
    try_out_.switched();
    try_out_.try_out(before);
    IterationSample gradient;
    gradient.staleness = staleness;
    try_out_.add(gradient);
    pass(seconds, samples_per_s);
    return try_out_.judge(now_, kLambda);
  }

  static constexpr double kLambda = 0.1;
  CalmTryOut try_out_;
  Situation now_{.global_batch = 100};
  double samples_ = 0;
};

TEST_F(CalmTryOutTest, APaceIsKnownAfterSixteenCalmRounds) {
  pass(15, 100);
  EXPECT_EQ(try_out_.pace(now_), 0);
  pass(2, 100);
  EXPECT_NEAR(try_out_.pace(now_), 100, 1e-6);
  pass(1, 100, false);
  EXPECT_EQ(try_out_.pace(now_), 0) << "a worker straggles";
}

TEST_F(CalmTryOutTest, WhatIsFasterStays) {
  pass(20, 100);
  EXPECT_EQ(tried(120, 3, 1), CalmTryOut::Verdict::Open);
  pass(5, 120);
  EXPECT_EQ(try_out_.judge(now_, kLambda), CalmTryOut::Verdict::Helps);
  pass(10, 90);
  EXPECT_EQ(try_out_.judge(now_, kLambda), CalmTryOut::Verdict::Helps) << "it is judged once";
}

TEST_F(CalmTryOutTest, SamplesThatBringLessCountLess) {
  pass(20, 100);
  EXPECT_EQ(tried(120, 8, 3), CalmTryOut::Verdict::DoesNot);
}

TEST_F(CalmTryOutTest, WhatDidNotHelpIsNotTriedAgainForEightTimesAsLong) {
  pass(20, 100);
  EXPECT_EQ(tried(99, 8), CalmTryOut::Verdict::DoesNot);
  try_out_.switched();
  pass(128, 100);
  EXPECT_EQ(try_out_.pace(now_), 0);
  pass(2, 100);
  EXPECT_NEAR(try_out_.pace(now_), 100, 1e-6);
}

TEST_F(CalmTryOutTest, WithoutOneOrWithAStragglerThereIsNothingToJudge) {
  pass(20, 100);
  EXPECT_EQ(try_out_.judge(now_, kLambda), CalmTryOut::Verdict::None);
  tried(120, 3);
  pass(1, 120, false);
  EXPECT_EQ(try_out_.judge(now_, kLambda), CalmTryOut::Verdict::None);
}

}  // namespace
}  // namespace orrery
