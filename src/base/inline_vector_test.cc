#include "base/inline_vector.h"

#include <gtest/gtest.h>

#include <numeric>
#include <span>
#include <utility>
#include <vector>

namespace orrery {
namespace {

using Numbers = InlineVector<int, 2>;

Numbers up_to(int count) {
  Numbers numbers;
  for (int i = 1; i <= count; ++i) numbers.push_back(i);
  return numbers;
}

std::vector<int> expected(int count) {
  std::vector<int> numbers(static_cast<std::size_t>(count));
  std::iota(numbers.begin(), numbers.end(), 1);
  return numbers;
}

std::vector<int> read(const Numbers& numbers) { return {numbers.begin(), numbers.end()}; }

class InlineVectorTest : public testing::TestWithParam<int> {};

TEST_P(InlineVectorTest, HoldsWhatWasPushed) {
  const Numbers numbers = up_to(GetParam());
  EXPECT_EQ(read(numbers), expected(GetParam()));
  EXPECT_EQ(numbers.empty(), GetParam() == 0);
  EXPECT_EQ(std::span<const int>(numbers).size(), numbers.size());
  if (GetParam() > 0) {
    EXPECT_EQ(numbers.front(), 1);
    EXPECT_EQ(numbers.back(), GetParam());
  }
}

TEST_P(InlineVectorTest, CopiesAreEqualAndIndependent) {
  const Numbers first = up_to(GetParam());
  Numbers second = first;
  EXPECT_EQ(second, first);
  second.push_back(9);
  EXPECT_NE(second, first);
  EXPECT_EQ(read(first), expected(GetParam()));
}

TEST_P(InlineVectorTest, AssignmentReplacesListsOfAnyOtherLength) {
  for (const int before : {0, 1, 2, 3, 7}) {
    Numbers copied = up_to(before);
    const Numbers source = up_to(GetParam());
    copied = source;
    EXPECT_EQ(copied, source) << before;
    Numbers moved = up_to(before);
    moved = up_to(GetParam());
    EXPECT_EQ(moved, source) << before;
  }
}

TEST_P(InlineVectorTest, OneThatWasMovedFromCanBeFilledAgain) {
  Numbers first = up_to(GetParam());
  const Numbers second = std::move(first);
  EXPECT_EQ(read(second), expected(GetParam()));
  first = {4, 5, 6};
  EXPECT_EQ(read(first), (std::vector{4, 5, 6}));
  EXPECT_EQ(read(second), expected(GetParam()));
}

TEST_P(InlineVectorTest, ShortenedAndClearedListsGrowAgain) {
  Numbers numbers = up_to(GetParam());
  numbers.shorten(numbers.size() / 2);
  EXPECT_EQ(read(numbers), expected(GetParam() / 2));
  numbers.clear();
  EXPECT_TRUE(numbers.empty());
  for (int i = 1; i <= 5; ++i) numbers.push_back(i);
  EXPECT_EQ(read(numbers), expected(5));
}

INSTANTIATE_TEST_SUITE_P(Lengths, InlineVectorTest, testing::Values(0, 1, 2, 3, 4, 5, 9));

}  // namespace
}  // namespace orrery
