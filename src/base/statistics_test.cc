#include "base/statistics.h"

#include <gtest/gtest.h>

#include <limits>
#include <string>
#include <vector>

#include "base/random.h"

namespace orrery {
namespace {

constexpr double kInfinite = std::numeric_limits<double>::infinity();

TEST(Quantile, EachRuleHasItsRank) {
  const std::vector<double> sorted = {10, 20, 30, 40};
  EXPECT_EQ(quantile(sorted, 0.5, QuantileRule::Nearest), 20);
  EXPECT_EQ(quantile(sorted, 0.5, QuantileRule::Below), 20);
  EXPECT_EQ(quantile(sorted, 0.5, QuantileRule::Above), 30);
  EXPECT_EQ(quantile(sorted, 0.5, QuantileRule::Interpolated), 25);
  EXPECT_EQ(quantile(sorted, 0.26, QuantileRule::Nearest), 20);
  EXPECT_EQ(quantile(sorted, 0.26, QuantileRule::Below), 10);
  EXPECT_EQ(quantile(sorted, 0.26, QuantileRule::Above), 20);
}

TEST(Quantile, StaysAmongTheValuesAtBothEnds) {
  for (const auto rule : {QuantileRule::Nearest, QuantileRule::Below, QuantileRule::Above,
                          QuantileRule::Interpolated}) {
    EXPECT_EQ(quantile(std::vector<double>{7}, 0.99, rule), 7);
    EXPECT_EQ(quantile(std::vector<double>{7, 8, 9}, 0, rule), 7);
    EXPECT_EQ(quantile(std::vector<double>{7, 8, 9}, 1, rule), 9);
  }
}

TEST(Median, IsTheMeanOfTheTwoInTheMiddle) {
  EXPECT_EQ(median({3, 1, 2}), 2);
  EXPECT_EQ(median({4, 1, 3, 2}), 2.5);
  EXPECT_EQ(median({5}), 5);
}

TEST(Median, OfMostlyInfiniteValuesIsInfinite) {
  EXPECT_EQ(median({kInfinite, 1, kInfinite, 2}), kInfinite);
  EXPECT_EQ(median({kInfinite, 1, kInfinite, kInfinite}), kInfinite);
}

TEST(Median, UpperMedianIsOneOfTheValues) {
  std::vector<int> values = {4, 1, 3, 2};
  EXPECT_EQ(upper_median(values), 3);
  EXPECT_EQ(upper_median(std::vector<std::string>{"b", "a", "c"}), "b");
}

TEST(SolvePositiveDefinite, FindsTheSolution) {
  // 4x + y + z = 9, x + 3y = 7, x + 2z = 7: x = 1, y = 2, z = 3.
  std::vector<double> matrix = {4, 1, 1, 1, 3, 0, 1, 0, 2};
  std::vector<double> right = {9, 7, 7};
  solve_positive_definite(matrix, right);
  EXPECT_NEAR(right[0], 1, 1e-12);
  EXPECT_NEAR(right[1], 2, 1e-12);
  EXPECT_NEAR(right[2], 3, 1e-12);
}

TEST(LeastSquares, FindsTheLineThroughExactPoints) {
  LeastSquares<2> squares;
  for (int x = 0; x < 10; ++x) squares.add({1, static_cast<double>(x)}, 3 - 2.0 * x);
  const auto line = squares.solve();
  EXPECT_NEAR(line[0], 3, 1e-7);
  EXPECT_NEAR(line[1], -2, 1e-7);
  EXPECT_NEAR(squares.residual(line), 0, 1e-9);
}

TEST(LeastSquares, NoOtherSolutionHasASmallerResidual) {
  Random random(11);
  LeastSquares<3> squares;
  for (int i = 0; i < 50; ++i) {
    squares.add({1, random.normal(), random.normal()}, random.normal());
  }
  const auto best = squares.solve();
  for (int i = 0; i < 100; ++i) {
    auto other = best;
    for (double& term : other) term += 0.1 * random.normal();
    EXPECT_GT(squares.residual(other), squares.residual(best));
  }
}

TEST(LeastSquares, IsSolvableWithAnEmptyAndADoubledColumn) {
  LeastSquares<4> squares;
  for (int x = 1; x < 10; ++x) squares.add({1.0 * x, 2.0 * x, 0, 0}, 5.0 * x);
  const auto found = squares.solve();
  EXPECT_NEAR(found[0] + 2 * found[1], 5, 1e-6);
  EXPECT_EQ(found[2], 0);
  EXPECT_EQ(found[3], 0);
}

}  // namespace
}  // namespace orrery
