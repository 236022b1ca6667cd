#include "cloud/models/server_times.h"

#include <gtest/gtest.h>

#include <vector>

namespace orrery {
namespace {

TEST(CheckpointTime, ALineThroughSizesIsFound) {
  const std::vector<CheckpointSample> samples = {{"a", 10, 3.2}, {"b", 100, 5}, {"c", 60, 4.2}};
  const auto fit = fit_checkpoint_time(samples);
  ASSERT_TRUE(fit.ok());
  EXPECT_NEAR(fit.value().fixed_s, 3, 1e-9);
  EXPECT_NEAR(fit.value().seconds_for(200), 7, 1e-9);
  EXPECT_FALSE(fit_checkpoint_time({}).ok());
}

TEST(CheckpointTime, TheHeldOutErrorIsThatOfTheModelThatWasLeftOut) {
  // The line through a and b says 4 s for c, which took 5: an error of 20 %. a and b lie 1 s and
  // more off the lines through the others.
  const std::vector<CheckpointSample> samples = {{"a", 0, 3}, {"b", 100, 5}, {"c", 50, 5}};
  const auto error = checkpoint_error_pct(samples);
  ASSERT_TRUE(error.ok());
  EXPECT_NEAR(error.value(), 100 * (2.0 / 3 + 2.0 / 5 + 1.0 / 5) / 3, 1e-6);
}

std::vector<StartupTable> tables() {
  return {{"pre_east", "K80", true, {{1, 40, 40}, {2, 41, 42}}},
          {"pre_west", "K80", true, {{3, 50, 40}}},
          {"on_demand_east", "K80", false, {{1, 30, 40}}}};
}

TEST(StartupTimes, AreDrawnFromWhatWasMeasuredOfTheClass) {
  const std::vector<StartupTable> measured = tables();
  const StartupTimes times(measured);
  Random random(3);
  bool west = false;
  for (int i = 0; i < 100; ++i) {
    const auto sample = times.sample("K80", true, random);
    ASSERT_TRUE(sample.ok());
    EXPECT_NE(sample.value().staging_s, 30) << "that one is on-demand";
    west = west || sample.value().staging_s == 50;
  }
  EXPECT_TRUE(west);
  EXPECT_NEAR(times.summary("K80", true).value().mean_s, (81 + 85 + 93) / 3.0, 1e-9);
}

TEST(StartupTimes, AGpuThatWasNotMeasuredHasThoseOfTheOthers) {
  const std::vector<StartupTable> measured = tables();
  EXPECT_EQ(StartupTimes(measured).summary("V100", true).value().samples, 3u);
  EXPECT_FALSE(StartupTimes({}).summary("V100", true).ok());
}

}  // namespace
}  // namespace orrery
