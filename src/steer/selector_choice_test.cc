#include "steer/selector_choice.h"

#include <gtest/gtest.h>

#include <cmath>

namespace orrery {
namespace {

// Foresees what it was told to.
class ToldRegression final : public ModeRegression {
 public:
  explicit ToldRegression(double (*says)(const ModeFeatures&)) : says_(says) {}
  Status fit(std::span<const SelectorSample> samples) override {
    ++fits;
    largest_fit = std::max(largest_fit, samples.size());
    return {};
  }
  double predict(const ModeFeatures& features) const override { return says_(features); }

  int fits = 0;
  std::size_t largest_fit = 0;

 private:
  double (*says_)(const ModeFeatures&);
};

// A world in which dynamic groups are worth twice what the heuristic thinks.
double truth(const ModeFeatures& f) {
  return 0.01 * f.gradients_ratio / (1 + 0.25 * f.staleness) * (f.kind == 1 ? 2 : 1);
}

void feed(SelectorChoice& choice, int windows) {
  Random random(4);
  for (int i = 0; i < windows; ++i) {
    const ModeFeatures features{.kind = static_cast<double>(random.between(0, 1)),
                                .gradients_ratio = 1 + 3 * random.uniform(),
                                .staleness = 7 * random.uniform()};
    choice.saw({.features = features, .loss_drop_per_s = truth(features)}, 0.25);
  }
}

const std::vector<ModeFeatures> kTwo = {{.kind = 0, .gradients_ratio = 3},
                                        {.kind = 1, .gradients_ratio = 2}};

TEST(SelectorChoice, LeavesItToTheHeuristicUntilThereIsEnough) {
  ToldRegression good(truth);
  SelectorChoice choice(&good, {.explore = 0});
  feed(choice, 199);
  EXPECT_FALSE(choice.choose(kTwo));
  EXPECT_EQ(good.fits, 0);
  feed(choice, 1);
  ASSERT_TRUE(choice.choose(kTwo));
  EXPECT_EQ(*choice.choose(kTwo), 1u);
  EXPECT_EQ(good.largest_fit, 200u) << "once it is trusted, it learns from everything";
}

TEST(SelectorChoice, DoesNotTrustARegressionThatIsWorse) {
  ToldRegression bad([](const ModeFeatures& f) { return 0.01 * f.staleness; });
  SelectorChoice choice(&bad, {.explore = 0});
  feed(choice, 400);
  EXPECT_GT(choice.regression_error(), choice.heuristic_error());
  EXPECT_FALSE(choice.choose(kTwo));
}

TEST(SelectorChoice, NonsenseIsNotTrusted) {
  ToldRegression nonsense([](const ModeFeatures&) { return std::nan(""); });
  SelectorChoice choice(&nonsense);
  feed(choice, 400);
  EXPECT_FALSE(choice.trusted());
  SelectorChoice none(nullptr);
  feed(none, 400);
  EXPECT_FALSE(none.choose(kTwo));
}

TEST(SelectorChoice, ExploresAsOftenAsAskedAndTheSameWayEachTime) {
  ToldRegression good(truth);
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
