#include "training/libtorch/mode_network.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <cmath>
#include <filesystem>
#include <fstream>
#include <limits>
#include <span>

#include "base/random.h"

namespace orrery {
namespace {

// More gradients a second help, staleness costs, and lgc is a little worse than it looks.
double drop_of(const ModeFeatures& features) {
  const double worse = features.kind == 3 ? 0.7 : 1;
  return 0.01 * worse * features.gradients_ratio / (1 + 0.3 * features.staleness);
}

std::vector<SelectorSample> windows(int count) {
  Random random(3);
  std::vector<SelectorSample> samples;
  for (int i = 0; i < count; ++i) {
    ModeFeatures features{.kind = static_cast<double>(random.between(0, 4)),
                          .x_share = random.uniform(),
                          .gradients_ratio = 1 + 3 * random.uniform(),
                          .staleness = 7 * random.uniform(),
                          .straggling = random.uniform()};
    samples.push_back({features, drop_of(features) * (1 + 0.05 * random.normal())});
  }
  return samples;
}

TEST(ModeNetwork, LearnsWhatAModeBrings) {
  const auto network = make_mode_network();
  ASSERT_TRUE(network->fit(windows(200)).ok());
  EXPECT_LT(network->held_out_error(), 0.4 * network->held_out_error_of_mean());
  const ModeFeatures steady{.x_share = 0.9, .gradients_ratio = 3, .staleness = 0.2};
  ModeFeatures stale = steady;
  stale.staleness = 6;
  EXPECT_GT(network->predict(steady), network->predict(stale));
}

TEST(ModeNetwork, InAHurryItLearnsNearlyAsMuch) {
  const auto network = make_mode_network(kOnLineModeNetwork);
  const auto all = windows(300);
  const std::span<const SelectorSample> seen = std::span(all).first(200);
  ASSERT_TRUE(network->fit(seen).ok());
  double mean = 0, error = 0, error_of_mean = 0;
  for (const SelectorSample& sample : seen) mean += sample.loss_drop / 200;
  for (const SelectorSample& sample : std::span(all).last(100)) {
    error += std::abs(network->predict(sample.features) - sample.loss_drop);
    error_of_mean += std::abs(mean - sample.loss_drop);
  }
  EXPECT_LT(error, 0.4 * error_of_mean);
  EXPECT_EQ(network->held_out_error(), 0);
}

TEST(ModeNetwork, TreatsRulesDifferently) {
  const auto network = make_mode_network();
  ASSERT_TRUE(network->fit(windows(300)).ok());
  ModeFeatures features{.kind = 2, .x_share = 0.5, .gradients_ratio = 3, .staleness = 1};
  const double ring = network->predict(features);
  features.kind = 3;
  EXPECT_LT(network->predict(features), ring);
}

// Every window was in a mode whose staleness is 7, or nearly.
TEST(ModeNetwork, WhatNeverChangedIsNoReasonForAnything) {
  auto samples = windows(200);
  for (std::size_t i = 0; i < samples.size(); ++i) {
    samples[i].features.staleness = 7 + 1e-9 * static_cast<double>(i % 3);
    samples[i].features.rate = 0.1;
  }
  const auto network = make_mode_network(kOnLineModeNetwork);
  ASSERT_TRUE(network->fit(samples).ok());
  ModeFeatures other = samples.front().features;
  const double seen = network->predict(other);
  other.staleness = 0;
  other.rate = 0.01;
  EXPECT_NEAR(network->predict(other), seen, 1e-6);
}

TEST(ModeNetwork, NeedsEnoughWindowsThatAreNumbers) {
  auto few = windows(25);
  for (int i = 0; i < 10; ++i) {
    few[static_cast<std::size_t>(i)].loss_drop = std::numeric_limits<double>::quiet_NaN();
  }
  const Status fitted = make_mode_network()->fit(few);
  ASSERT_FALSE(fitted.ok());
  EXPECT_NE(fitted.error().message.find("15"), std::string::npos);
}

TEST(ModeNetwork, IsTheSameAfterSavingAndLoading) {
  const auto path = std::filesystem::temp_directory_path() /
                    ("orrery-modes-" + std::to_string(::getpid()) + ".json");
  const auto network = make_mode_network({.steps = 50});
  const auto samples = windows(60);
  ASSERT_TRUE(network->fit(samples).ok());
  ASSERT_TRUE(network->save(path).ok());
  const auto loaded = load_mode_network(path);
  ASSERT_TRUE(loaded.ok()) << loaded.error().message;
  for (const SelectorSample& sample : samples) {
    EXPECT_EQ(loaded.value()->predict(sample.features), network->predict(sample.features));
  }
  std::ofstream(path) << "{\"kind\":\"mode-network\",\"version\":1,\"hidden\":32}";
  EXPECT_FALSE(load_mode_network(path).ok());
  std::filesystem::remove(path);
}

}  // namespace
}  // namespace orrery
