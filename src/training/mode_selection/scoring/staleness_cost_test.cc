#include "training/mode_selection/scoring/staleness_cost.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <string>
#include <vector>

#include "base/random.h"

namespace orrery {
namespace {

using Curve = std::vector<std::pair<double, double>>;  // gradients, accuracy

std::vector<Curve> curves(const std::string& folder, const std::string& prefix,
                          double gradients_an_update) {
  std::vector<Curve> found;
  for (const auto& entry : std::filesystem::directory_iterator(folder)) {
    if (entry.path().filename().string().rfind(prefix, 0) != 0) continue;
    std::ifstream file(entry.path() / "acc.csv");
    std::string line;
    std::getline(file, line);
    Curve curve;
    while (std::getline(file, line)) {
      std::istringstream cells(line);
      std::string wall, step, value;
      std::getline(cells, wall, ',');
      std::getline(cells, step, ',');
      std::getline(cells, value, ',');
      if (!value.empty()) {
        curve.emplace_back(std::stod(step) * gradients_an_update, std::stod(value));
      }
    }
    found.push_back(curve);
  }
  return found;
}

double median(std::vector<double> values) {
  std::sort(values.begin(), values.end());
  const std::size_t half = values.size() / 2;
  return values.size() % 2 == 1 ? values[half] : (values[half - 1] + values[half]) / 2;
}

// Median gradients to the first crossing, by interpolation, among runs that cross.
double gradients_to(const std::vector<Curve>& runs, double accuracy) {
  std::vector<double> crossings;
  for (const Curve& curve : runs) {
    for (std::size_t i = 1; i < curve.size(); ++i) {
      const auto [s0, v0] = curve[i - 1];
      const auto [s1, v1] = curve[i];
      if (v0 < accuracy && v1 >= accuracy) {
        crossings.push_back(s0 + (s1 - s0) * (accuracy - v0) / (v1 - v0));
        break;
      }
    }
  }
  return crossings.empty() ? 0 : median(crossings);
}

TEST(StalenessCost, ItsPriorIsWhatTheSyncSwitchCurvesShow) {
  const std::string data = std::string(ORRERY_SHARED) + "/data/sync-switch";
  if (!std::filesystem::exists(data)) GTEST_SKIP() << "no reference data beside this checkout";
  struct Model {
    std::string folder;
    double first_level, last_level, level_step, first_rate_step;
  };
  std::vector<double> lambdas;
  for (const Model& model : {Model{"/cifar10_res32/baseline", 0.3, 0.82, 0.0625, 32000},
                             Model{"/cifar100_res50", 0.1, 0.51, 0.05, 64000}}) {
    const std::vector<Curve> bsp = curves(data + model.folder, "bsp", 8);
    const std::vector<Curve> asp = curves(data + model.folder, "asp", 1);
    for (double level = model.first_level; level < model.last_level; level += model.level_step) {
      const double synchronous = gradients_to(bsp, level);
      const double stale = gradients_to(asp, level);
      ASSERT_GT(synchronous, 0);
      ASSERT_LT(stale, model.first_rate_step);
      lambdas.push_back((stale / synchronous - 1) / 7);
    }
  }
  EXPECT_EQ(lambdas.size(), 18u);
  EXPECT_NEAR(median(lambdas), kStalenessCostPrior, 0.015);
}

// Windows of a run whose gradients lose their worth as lambda says.
StalenessCost after(double lambda, const std::vector<double>& staleness, double noise,
                    std::uint64_t seed) {
  StalenessCost cost;
  Random random(seed);
  double worth = 1e-5;
  for (const double stale : staleness) {
    const double drop = worth / (1 + lambda * stale);
    cost.add({.samples = 1e4,
              .staleness = stale,
              .rate = 0.1,
              .drop = drop * (1 + noise * random.normal()),
              .drop_noise = std::max(noise, 0.01) * drop});
    worth *= 0.95;
  }
  return cost;
}

TEST(StalenessCost, StaysAtThePriorWhileOnlyOneModeHasBeenSeen) {
  EXPECT_DOUBLE_EQ(after(2.0, {0, 0, 0, 0}, 0.01, 1).lambda(), kStalenessCostPrior);
  EXPECT_DOUBLE_EQ(after(2.0, {7, 7, 7, 7}, 0.01, 1).lambda(), kStalenessCostPrior);
}

TEST(StalenessCost, LearnsFromModesThatWereVisited) {
  const std::vector<double> visits = {0, 0, 7, 7, 0, 7, 0, 1, 1, 0, 3, 3, 0, 7};
  EXPECT_LT(after(0.02, visits, 0.05, 2).lambda(), 0.1);
  EXPECT_NEAR(after(0.25, visits, 0.05, 3).lambda(), 0.25, 0.08);
  EXPECT_GT(after(1.5, visits, 0.05, 4).lambda(), 0.8);
}

TEST(StalenessCost, AssumesALowerCostUntilItHasLearned) {
  EXPECT_DOUBLE_EQ(StalenessCost().lambda_optimistic(), kStalenessCostPrior / 2);
  const std::vector<double> visits = {0, 0, 7, 7, 0, 7, 0, 1, 1, 0, 3, 3, 0, 7};
  const StalenessCost learned = after(1.5, visits, 0.05, 4);
  EXPECT_LT(learned.lambda_optimistic(), learned.lambda());
  EXPECT_GT(learned.lambda_optimistic(), 0.5) << "a measured cost is not assumed away";
}

TEST(StalenessCost, WithoutMomentumStalenessIsTakenToCostATenth) {
  EXPECT_NEAR(staleness_prior(0.9), kStalenessCostPrior, 1e-12);
  EXPECT_NEAR(staleness_prior(0), kStalenessCostPrior / 10, 1e-12);
  EXPECT_GT(staleness_prior(0.99), staleness_prior(0.9));
  EXPECT_EQ(staleness_prior(2), staleness_prior(0.99)) << "a momentum that cannot be";
}

TEST(StalenessCost, NoisyWindowsMoveItLittle) {
  const double lambda = after(1.5, {0, 7, 0}, 5.0, 5).lambda();
  EXPECT_NEAR(lambda, kStalenessCostPrior, 0.1);
}

TEST(StalenessCost, AnotherLearningRateForgetsWindows) {
  StalenessCost cost = after(1.5, {0, 7, 0, 7, 0, 7}, 0.01, 6);
  EXPECT_GT(cost.lambda(), 0.5);
  cost.add({.samples = 1e4, .staleness = 7, .rate = 0.01, .drop = 1e-6, .drop_noise = 1e-8});
  EXPECT_DOUBLE_EQ(cost.lambda(), kStalenessCostPrior);
}

}  // namespace
}  // namespace orrery
