#include <gtest/gtest.h>

#include <algorithm>
#include <map>

#include "training/mode_selection/director_by_name.h"
#include "training/twin/twin.h"

namespace orrery {
namespace {

constexpr const char* kPatterns[] = {"none", "one-slow", "on-off", "random-walk", "bandwidth-cut"};

// Eight workers of 150 ms and 1 MB, as a small CNN on emulated servers.
TwinResult train(const std::string& mode, const std::string& pattern,
                 Architecture architecture = Architecture::ParameterServers) {
  TwinSetup setup;
  setup.workers.resize(8, {.fixed_s = 0.01, .per_sample_s = 0.14 / 32, .bytes_per_s = 20e6});
  setup.jitter = 0.05;
  setup.parameter_bytes = 1e6;
  setup.shards = {.gradient_s = 0.001, .bytes_per_s = 100e6};
  setup.conductor = {.architecture = architecture,
                     .global_batch = 256,
                     .blocks = 4,
                     .samples_limit = 256 * 6000,
                     .evaluate_every = 256 * 4,
                     .target_accuracy = 0.85};
  setup.convergence = {.scale_samples = 40'000, .power = 1.5, .scatter = 0.003};
  setup.script = read_straggler_script(ORRERY_SOURCE "/data/stragglers/" + pattern + ".txt", 8, 1,
                                       std::chrono::hours(2))
                     .value();
  auto director = director_by_name(mode, 0,
                                   {.workers = 8,
                                    .architecture = architecture,
                                    .samples_limit = setup.conductor.samples_limit,
                                    .blocks = 4});
  EXPECT_TRUE(director.ok()) << director.error().message;
  TwinResult run = run_twin(setup, std::move(director).value());
  EXPECT_EQ(run.tally.ended, "the target was reached") << mode << " " << pattern;
  return run;
}

TEST(Directors, StarIsNearTheBestFixedModeInEveryPatternAndIsSsgdWithoutStragglers) {
  for (const std::string pattern : kPatterns) {
    double best_s = 1e9, ssgd_s = 0;
    for (const char* const mode : {"ssgd", "asgd", "static-4", "static-6", "static-7"}) {
      const double time_s = train(mode, pattern).time_to_target_s.value_or(-1);
      best_s = std::min(best_s, time_s);
      if (mode == std::string("ssgd")) ssgd_s = time_s;
    }
    const double star_s = train("star", pattern).time_to_target_s.value_or(-1);
    EXPECT_LT(star_s, 1.15 * best_s) << pattern;
    const bool slow = pattern == "one-slow" || pattern == "bandwidth-cut";
    EXPECT_LT(star_s, (slow ? 0.52 : 1.05) * ssgd_s) << pattern;
  }
}

TEST(Directors, TheRivalsReachTheTargetInEveryPattern) {
  for (const std::string pattern : kPatterns) {
    for (const char* const mode : {"dynamic", "ssp-3", "lgc", "lb-bsp", "sync-switch", "zeno++"}) {
      EXPECT_TRUE(train(mode, pattern).time_to_target_s);
    }
  }
}

TEST(Directors, StarTakesAStragglerOutOfTheRing) {
  const TwinResult ssgd = train("ssgd", "one-slow", Architecture::AllReduce);
  const TwinResult star = train("star", "one-slow", Architecture::AllReduce);
  ASSERT_TRUE(star.time_to_target_s && ssgd.time_to_target_s);
  EXPECT_LT(*star.time_to_target_s, 0.6 * *ssgd.time_to_target_s);
}

}  // namespace
}  // namespace orrery
