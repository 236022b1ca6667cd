#include "algorithms/integer_program/integer_program.h"

#include <gtest/gtest.h>

#include "base/random.h"

namespace orrery {
namespace {

constexpr int kNodes = 10'000;

TEST(IntegerProgram, FillsAKnapsackWhereRoundingTheFractionWouldNot) {
  // Worth 60, 50, 50 and weighing 6, 5, 5: the first alone fills most of ten, the other two all.
  IntegerProgram program;
  const int row = program.add_row(0, 10);
  for (const auto& [gain, weight] : {std::pair(61, 6), std::pair(50, 5), std::pair(50, 5)}) {
    program.set(row, program.add_column(gain, 1), weight);
  }
  EXPECT_EQ(program.maximise(kNodes), (std::vector<int>{0, 1, 1}));
}

TEST(IntegerProgram, SaysSoIfNothingFits) {
  IntegerProgram program;
  const int row = program.add_row(7, 7);
  program.set(row, program.add_column(1, 3), 2);
  EXPECT_EQ(program.maximise(kNodes), std::nullopt);
}

TEST(IntegerProgram, IsNoBetterThanInRealNumbers) {
  IntegerProgram program;
  const int row = program.add_row(0, 10);
  program.set(row, program.add_column(7, 3), 4);
  EXPECT_EQ(program.maximise(kNodes), (std::vector<int>{2}));
  const auto relaxed = program.relax();
  ASSERT_TRUE(relaxed.has_value());
  EXPECT_NEAR((*relaxed)[0], 2.5, 1e-9);
}

TEST(IntegerProgram, SaysSoIfNothingFitsInRealNumbersEither) {
  IntegerProgram program;
  program.set(program.add_row(7, 7), program.add_column(1, 4), 2);
  EXPECT_EQ(program.maximise(kNodes), std::nullopt);
  EXPECT_TRUE(program.relax().has_value());
  IntegerProgram hopeless;
  hopeless.set(hopeless.add_row(7, 7), hopeless.add_column(1, 3), 1);
  EXPECT_EQ(hopeless.relax(), std::nullopt);
}

TEST(IntegerProgram, WithoutColumnsThereIsNothingToDecide) {
  EXPECT_EQ(IntegerProgram().maximise(kNodes), std::vector<int>());
}

TEST(IntegerProgram, IsAsGoodAsTryingEverything) {
  Random random(3);
  for (int round = 0; round < 40; ++round) {
    IntegerProgram program;
    const int rows = 2;
    std::vector<int> limits;
    for (int r = 0; r < rows; ++r) {
      limits.push_back(static_cast<int>(random.between(4, 14)));
      program.add_row(0, limits.back());
    }
    const int columns = 5;
    std::vector<int> gains;
    std::vector<std::vector<int>> factors(columns, std::vector<int>(rows));
    for (int c = 0; c < columns; ++c) {
      gains.push_back(static_cast<int>(random.between(1, 20)));
      program.add_column(gains.back(), 2);
      for (int r = 0; r < rows; ++r) {
        factors[c][r] = static_cast<int>(random.between(0, 6));
        program.set(r, c, factors[c][r]);
      }
    }
    int best = 0;
    for (int code = 0; code < 243; ++code) {  // three values for each of five
      std::vector<int> x;
      for (int c = 0, rest = code; c < columns; ++c, rest /= 3) x.push_back(rest % 3);
      bool fits = true;
      for (int r = 0; r < rows; ++r) {
        int sum = 0;
        for (int c = 0; c < columns; ++c) sum += factors[c][r] * x[c];
        fits = fits && sum <= limits[r];
      }
      int gain = 0;
      for (int c = 0; c < columns; ++c) gain += gains[c] * x[c];
      if (fits) best = std::max(best, gain);
    }
    const auto solution = program.maximise(kNodes);
    ASSERT_TRUE(solution.has_value());
    int gain = 0;
    for (int c = 0; c < columns; ++c) gain += gains[c] * (*solution)[c];
    EXPECT_EQ(gain, best) << "round " << round;
  }
}

}  // namespace
}  // namespace orrery
