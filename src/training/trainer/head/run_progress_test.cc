#include "training/trainer/head/run_progress.h"

#include <gtest/gtest.h>

#include <cmath>

namespace orrery {
namespace {

TEST(RunProgress, TheTimeLeftIsThatOfThisSession) {
  RunProgress progress({.samples = 1000});
  // The session before took 90 s for 500 samples; this one has done 250 in 10 s.
  progress.begin(500, 90);
  EXPECT_FALSE(progress.at(500, 90).left_s);
  const ProgressState state = progress.at(750, 100);
  EXPECT_DOUBLE_EQ(*state.share, 0.75);
  EXPECT_DOUBLE_EQ(*state.left_s, 10);
}

TEST(RunProgress, TheEarlierEndCounts) {
  RunProgress progress({.samples = 1000, .time_s = 20});
  progress.begin(0, 0);
  const ProgressState state = progress.at(100, 15);
  EXPECT_DOUBLE_EQ(*state.share, 0.75);
  EXPECT_DOUBLE_EQ(*state.left_s, 5);
}

TEST(RunProgress, ATargetAloneShowsTheAccuracyAndPredictsNoEnd) {
  RunProgress progress({.accuracy = 0.97});
  progress.begin(0, 0);
  progress.gradient(0.5);
  EXPECT_EQ(progress_text(progress.at(10, 1)), ", 0 updates, loss 0.5, no accuracy yet of 0.97");
  progress.evaluated(0.9123);
  ProgressState state = progress.at(100, 15);
  state.mode = "asgd";
  state.updates = 7;
  EXPECT_EQ(progress_text(state), "asgd, 7 updates, loss 0.5, accuracy 0.912 of 0.97");
}

TEST(RunProgress, EverythingThatIsKnownIsSaid) {
  EXPECT_EQ(progress_text({.share = 0.4,
                           .left_s = 75,
                           .mode = "ssgd",
                           .updates = 1200,
                           .loss = 0.43121,
                           .accuracy = 0.9}),
            "40 %, ssgd, 1200 updates, loss 0.4312, accuracy 0.900, 1m15s left");
}

TEST(RunProgress, ALossThatIsNotFiniteDoesNotStay) {
  RunProgress progress({.samples = 10});
  progress.gradient(2);
  progress.gradient(std::nan(""));
  progress.gradient(4);
  EXPECT_NEAR(*progress.loss(), 2.1, 1e-12);
}

}  // namespace
}  // namespace orrery
