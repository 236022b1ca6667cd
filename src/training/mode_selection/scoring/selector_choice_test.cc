#include "training/mode_selection/scoring/selector_choice.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>

namespace orrery {
namespace {

// Predicts what it was given.
class GivenRegression final : public ModeRegression {
 public:
  explicit GivenRegression(double (*says)(const ModeFeatures&)) : says_(says) {}
  Status fit(std::span<const SelectorSample> samples) override {
    fits.push_back(samples.size());
    return {};
  }
  double predict(const ModeFeatures& features) const override { return says_(features); }

  std::vector<std::size_t> fits{};  // how many it was shown, each time

 private:
  double (*says_)(const ModeFeatures&);
};

// A world in which dynamic groups are worth twice what the heuristic thinks, and nothing comes as
// easily later as it did at first.
double truth(const ModeFeatures& f) {
  return 0.01 * f.phase * f.gradients_ratio / (1 + 0.25 * f.staleness) * (f.kind == 1 ? 2 : 1);
}

std::vector<SelectorSample> windows(int count, double (*brings)(const ModeFeatures&) = truth) {
  Random random(4);
  std::vector<SelectorSample> all;
  for (int i = 0; i < count; ++i) {
    const ModeFeatures features{.kind = static_cast<double>(random.between(0, 1)),
                                .gradients_ratio = 1 + 3 * random.uniform(),
                                .staleness = 7 * random.uniform(),
                                .phase = 1 - random.uniform() / 2};
    all.push_back({.features = features, .loss_drop = brings(features), .lambda = 0.25});
  }
  return all;
}

void feed(SelectorChoice& choice, int count) {
  for (const SelectorSample& window : windows(count)) choice.add(window);
}

const std::vector<ModeFeatures> kTwo = {{.kind = 0, .gradients_ratio = 3, .phase = 1},
                                        {.kind = 1, .gradients_ratio = 2, .phase = 1}};

TEST(SelectorChoice, LeavesItToTheHeuristicUntilThereIsEnough) {
  GivenRegression good(truth);
  SelectorChoice choice(&good, {.explore = 0});
  feed(choice, 199);
  EXPECT_FALSE(choice.choose(kTwo));
  EXPECT_TRUE(good.fits.empty());
  feed(choice, 1);
  ASSERT_TRUE(choice.choose(kTwo));
  EXPECT_EQ(*choice.choose(kTwo), 1u);
  EXPECT_EQ(good.fits.back(), 200u) << "once it is trusted, it learns from everything";
  good.fits.clear();
  feed(choice, 49);
  EXPECT_TRUE(good.fits.empty());
  feed(choice, 1);
  EXPECT_EQ(good.fits.back(), 250u);
}

TEST(SelectorChoice, DecidesAtOnceWithWhatEarlierRunsHaveSeen) {
  GivenRegression good(truth);
  SelectorChoice choice(&good, {.explore = 0}, {windows(100), windows(100)});
  EXPECT_LT(choice.errors().regression, choice.errors().heuristic);
  ASSERT_TRUE(choice.choose(kTwo));
  EXPECT_EQ(*choice.choose(kTwo), 1u);
  EXPECT_EQ(good.fits.back(), 200u);
}

TEST(SelectorChoice, TooFewWindowsOfEarlierRunsCountWithItsOwn) {
  GivenRegression good(truth);
  SelectorChoice choice(&good, {.explore = 0}, {windows(100), windows(90)});
  EXPECT_FALSE(choice.choose(kTwo));
  feed(choice, 9);
  EXPECT_FALSE(choice.choose(kTwo));
  feed(choice, 1);
  EXPECT_TRUE(choice.choose(kTwo));
}

TEST(SelectorChoice, DoesNotTrustARegressionThatIsWorse) {
  GivenRegression bad([](const ModeFeatures& f) { return 0.01 * f.staleness; });
  SelectorChoice choice(&bad, {.explore = 0});
  feed(choice, 400);
  EXPECT_GT(choice.errors().regression, choice.errors().heuristic);
  EXPECT_FALSE(choice.choose(kTwo));
  SelectorChoice experienced(&bad, {.explore = 0}, {windows(400)});
  EXPECT_FALSE(experienced.choose(kTwo));
}

// It predicts everything here, and would rank all modes alike.
TEST(SelectorChoice, DoesNotTrustOneThatKnowsOnlyHowFarTrainingIs) {
  constexpr auto kPhaseOnly = [](const ModeFeatures& f) { return 0.01 * f.phase; };
  GivenRegression phase(kPhaseOnly);
  SelectorChoice choice(&phase, {.explore = 0}, {windows(400, kPhaseOnly)});
  EXPECT_LT(choice.errors().regression, choice.errors().heuristic);
  EXPECT_FALSE(choice.choose(kTwo));
}

TEST(SelectorChoice, TheHeuristicMayKnowThePhaseToo) {
  constexpr auto kAsTheHeuristicThinks = [](const ModeFeatures& f) {
    return (0.002 + 0.01 * f.phase) * f.gradients_ratio / (1 + 0.25 * f.staleness);
  };
  GivenRegression good(kAsTheHeuristicThinks);
  SelectorChoice choice(&good, {}, {windows(400, kAsTheHeuristicThinks)});
  EXPECT_LT(choice.errors().heuristic, 1e-9);
}

TEST(SelectorChoice, RunsAreHeldOutWholeWhileThatLeavesHalf) {
  GivenRegression good(truth);
  SelectorChoice whole(&good, {}, {windows(130), windows(120), windows(50)});
  EXPECT_EQ(good.fits, (std::vector<std::size_t>{225, 225, 300})) << "the last but one is long";
  good.fits.clear();
  SelectorChoice runs(&good, {}, {windows(160), windows(80), windows(60)});
  EXPECT_EQ(good.fits, (std::vector<std::size_t>{160, 160, 300}));
}

TEST(SelectorChoice, ChoosesOnlyBetweenModesItHasSeen) {
  GivenRegression good(truth);
  SelectorChoice choice(&good, {.explore = 0}, {windows(400)});
  std::vector<ModeFeatures> some = kTwo;
  some.push_back({.kind = 1, .gradients_ratio = 100, .staleness = 30, .phase = 1});
  EXPECT_EQ(choice.choose(some), 1u);
  EXPECT_FALSE(choice.choose(std::span(some).subspan(1))) << "one is no choice";
  EXPECT_FALSE(choice.choose({}));
}

TEST(SelectorChoice, KeepsTheNewestWindowsOnly) {
  GivenRegression good(truth);
  SelectorChoice choice(&good, {.samples_most = 300}, {windows(5000)});
  EXPECT_EQ(choice.samples().size(), 300u);
  EXPECT_EQ(good.fits.back(), 300u);
  feed(choice, 75);
  EXPECT_EQ(choice.samples().size(), 300u);
  EXPECT_EQ(choice.samples().back().loss_drop, windows(75).back().loss_drop);
  EXPECT_LE(std::ranges::max(good.fits), 300u);
}

TEST(SelectorChoice, WhatIsNoNumberIsNotKept) {
  SelectorSample window = windows(1).front();
  window.features.gradients_ratio = std::numeric_limits<double>::infinity();
  SelectorChoice choice(nullptr, {}, {{window}});
  choice.add(window);
  EXPECT_TRUE(choice.samples().empty());
}

TEST(SelectorChoice, NonsenseIsNotTrusted) {
  GivenRegression nonsense([](const ModeFeatures&) { return std::nan(""); });
  SelectorChoice choice(&nonsense);
  feed(choice, 400);
  EXPECT_FALSE(choice.trusted());
  SelectorChoice none(nullptr);
  feed(none, 400);
  EXPECT_FALSE(none.choose(kTwo));
}

TEST(SelectorChoice, ExploresAsOftenAsAskedAndTheSameWayEachTime) {
  GivenRegression good(truth);
  std::vector<std::size_t> first;
  for (int run = 0; run < 2; ++run) {
    SelectorChoice choice(&good, {.explore = 0.2, .seed = 9});
    feed(choice, 200);
    std::vector<std::size_t> chosen;
    int runner_up = 0;
    for (int i = 0; i < 1000; ++i) {
      chosen.push_back(*choice.choose(kTwo));
      runner_up += chosen.back() == 0;
    }
    EXPECT_NEAR(runner_up, 200, 50);
    if (run == 0) first = chosen;
    EXPECT_EQ(chosen, first);
  }
}

}  // namespace
}  // namespace orrery
