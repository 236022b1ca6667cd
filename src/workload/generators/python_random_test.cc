#include "workload/generators/python_random.h"

#include <gtest/gtest.h>

#include <vector>

namespace orrery {
namespace {

// The figures are what Python's random.Random(seed) answers to the same calls.
TEST(PythonRandom, GivesPythonsNumbersForZeroSeed) {
  PythonRandom random(0);
  EXPECT_EQ(random.random(), 0.8444218515250481);
  EXPECT_EQ(random.random(), 0.7579544029403025);
  EXPECT_EQ(random.random(), 0.420571580830845);
  EXPECT_EQ(random.uniform(1, 2.5), 1.388375125439445);
  std::vector<std::uint32_t> chosen;
  for (int i = 0; i < 12; ++i) chosen.push_back(random.below(14));
  EXPECT_EQ(chosen, (std::vector<std::uint32_t>{8, 7, 6, 12, 13, 4, 7, 5, 9, 3, 8, 2}));
  for (int i = 0; i < 2000; ++i) random.random();
  EXPECT_EQ(random.random(), 0.05415783402423813) << "after the state was renewed";
}

TEST(PythonRandom, GivesPythonsNumbersForSmallSeed) {
  PythonRandom random(1);
  EXPECT_EQ(random.random(), 0.13436424411240122);
  EXPECT_EQ(random.random(), 0.8474337369372327);
  EXPECT_EQ(random.random(), 0.763774618976614);
  EXPECT_EQ(random.uniform(1, 2.5), 1.3826035386091324);
  std::vector<std::uint32_t> chosen;
  for (int i = 0; i < 12; ++i) chosen.push_back(random.below(14));
  EXPECT_EQ(chosen, (std::vector<std::uint32_t>{7, 12, 7, 7, 10, 6, 12, 3, 1, 7, 0, 13}));
  for (int i = 0; i < 2000; ++i) random.random();
  EXPECT_EQ(random.random(), 0.550085240824603) << "after the state was renewed";
}

TEST(PythonRandom, GivesPythonsNumbersForSeedOfTwoWords) {
  PythonRandom random(1099511627793);
  EXPECT_EQ(random.random(), 0.6614192930187859);
  EXPECT_EQ(random.random(), 0.24151842637090726);
  EXPECT_EQ(random.random(), 0.6909905728254405);
  EXPECT_EQ(random.uniform(1, 2.5), 1.1669739534504862);
  std::vector<std::uint32_t> chosen;
  for (int i = 0; i < 12; ++i) chosen.push_back(random.below(14));
  EXPECT_EQ(chosen, (std::vector<std::uint32_t>{13, 6, 7, 2, 6, 1, 11, 10, 8, 7, 8, 7}));
  for (int i = 0; i < 2000; ++i) random.random();
  EXPECT_EQ(random.random(), 0.19324691458425214) << "after the state was renewed";
}

}  // namespace
}  // namespace orrery
