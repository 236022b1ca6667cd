#include "training/sync/spoiled_watch.h"

#include <gtest/gtest.h>

#include "training/sync/test_harness.h"

namespace orrery {
namespace {

SpoiledWatch::Spoiled of(int worker, ParameterVersion version, std::string why = "not finite") {
  return {.worker = WorkerId{worker}, .version = version, .rate = 1e9, .why = std::move(why)};
}

TEST(SpoiledWatch, TheFirstOfARowNamesTheCause) {
  SpoiledWatch watch(3);
  EXPECT_FALSE(watch.spoiled(of(0, 3)));
  EXPECT_FALSE(watch.spoiled(of(1, 4)));
  const auto why = watch.spoiled(of(0, 5));
  ASSERT_TRUE(why);
  EXPECT_EQ(*why,
            "3 gradients in a row could not be used, the first of worker 0 at version 3 of the "
            "parameters and a rate of 1e+09: not finite; lower --rate, or look at the data");
}

TEST(SpoiledWatch, AGradientThatIsUsedEndsTheRow) {
  SpoiledWatch watch(3);
  for (int round = 0; round < 10; ++round) {
    EXPECT_FALSE(watch.spoiled(of(0, round)));
    EXPECT_FALSE(watch.spoiled(of(0, round)));
    watch.used(WorkerId{0});
  }
}

TEST(SpoiledWatch, OneWorkerWhoseGradientsAreAllSpoiledIsEnough) {
  SpoiledWatch watch(3);
  for (int round = 0; round < 2; ++round) {
    watch.used(WorkerId{1});
    EXPECT_FALSE(watch.spoiled(of(2, round, "wrong shape")));
  }
  watch.used(WorkerId{1});
  const auto why = watch.spoiled(of(2, 2, "wrong shape"));
  ASSERT_TRUE(why);
  EXPECT_EQ(*why,
            "3 gradients in a row of worker 2 could not be used, the first at version 0 of the "
            "parameters and a rate of 1e+09: wrong shape");
}

TEST(SpoiledWatch, NoneAtAllAllowsAnyNumber) {
  SpoiledWatch watch(0);
  for (int i = 0; i < 1000; ++i) EXPECT_FALSE(watch.spoiled(of(0, 0)));
}

// Training that has come apart leaves no checkpoint of it.
TEST(Conductor, EndsWhenTooManyGradientsInARowAreSpoiled) {
  ConductorHarness harness(
      {.global_batch = 8, .evaluate_every = 8, .checkpoint_every = 8, .spoiled_most = 5}, 2, {});
  for (int round = 0; round < 5; ++round) {
    EXPECT_FALSE(harness.conductor->finished()) << round;
    harness.spoil(round % 2);
  }
  EXPECT_TRUE(harness.conductor->finished());
  ASSERT_EQ(harness.others.size(), 1U);
  const auto& end = std::get<FinishRun>(harness.others.front());
  EXPECT_TRUE(end.failed);
  EXPECT_NE(end.reason.find("5 gradients in a row"), std::string::npos) << end.reason;
}

}  // namespace
}  // namespace orrery
