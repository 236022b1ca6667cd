#include "scheduling/policy/order/waiting_lines.h"

#include <gtest/gtest.h>

namespace orrery {
namespace {

constexpr ShapeId kSmall{0};
constexpr ShapeId kLarge{1};

JobId id(int job) { return static_cast<JobId>(job); }

class WaitingLinesTest : public testing::Test {
 protected:
  void SetUp() override { lines.resize(2, 8); }
  bool add(ShapeId shape, int job, double key) { return lines.add(shape, id(job), {key, job}); }
  int next() {
    const auto first = lines.next();
    return first ? static_cast<int>(first->job) : -1;
  }
  WaitingLines lines;
};

TEST_F(WaitingLinesTest, SaysWhichJobIsFirst) {
  EXPECT_TRUE(add(kSmall, 0, 5));
  EXPECT_FALSE(add(kSmall, 1, 6));
  EXPECT_TRUE(add(kSmall, 2, 4));
  EXPECT_TRUE(add(kLarge, 3, 9));
  EXPECT_EQ(lines.length(kSmall), 3);
}

TEST_F(WaitingLinesTest, AsksTheBestOfTheFirstsOfOpenLinesOnly) {
  add(kSmall, 0, 5);
  add(kLarge, 1, 3);
  EXPECT_EQ(next(), -1);
  lines.ask(kSmall);
  EXPECT_EQ(next(), 0);
  lines.ask(kLarge);
  EXPECT_EQ(next(), 1);
  lines.close(kLarge);
  EXPECT_EQ(next(), 0);
  lines.close_all();
  EXPECT_EQ(next(), -1);
}

TEST_F(WaitingLinesTest, TheNextOfALineFollowsItsFirst) {
  add(kSmall, 0, 5);
  add(kSmall, 1, 6);
  lines.ask_all();
  EXPECT_EQ(next(), 0);
  lines.remove_first(kSmall);
  EXPECT_EQ(next(), 1);
  EXPECT_FALSE(lines.waits(id(0)));
  lines.remove_first(kSmall);
  EXPECT_EQ(next(), -1);
  EXPECT_TRUE(lines.empty());
}

TEST_F(WaitingLinesTest, AddingAgainMovesAJob) {
  add(kSmall, 0, 5);
  add(kSmall, 1, 6);
  EXPECT_FALSE(add(kSmall, 0, 7));
  EXPECT_EQ(lines.length(kSmall), 2);
  lines.ask(kSmall);
  EXPECT_EQ(next(), 1);
  EXPECT_TRUE(add(kSmall, 0, 1));
  EXPECT_EQ(next(), 0);
}

TEST_F(WaitingLinesTest, AJobRemovedFromTheMiddleIsNotAsked) {
  for (int i = 0; i < 3; ++i) add(kSmall, i, i);
  lines.remove(id(1));
  lines.remove(id(1));
  lines.remove(id(7));
  EXPECT_EQ(lines.length(kSmall), 2);
  lines.ask(kSmall);
  lines.remove_first(kSmall);
  EXPECT_EQ(next(), 2);
}

TEST_F(WaitingLinesTest, AJobIsNewOnlyTheFirstTimeItIsAsked) {
  add(kSmall, 0, 5);
  lines.ask(kSmall);
  EXPECT_TRUE(lines.next()->is_new);
  EXPECT_FALSE(lines.next()->is_new);
}

TEST_F(WaitingLinesTest, GivesTheBestFewInOrder) {
  for (const int job : {4, 2, 0, 3, 1}) add(kSmall, job, job);
  add(kSmall, 0, 9);  // moved to the end
  lines.remove(id(2));
  std::vector<std::pair<Rank, JobId>> best = {{{}, id(7)}};
  lines.best(kSmall, 3, best);
  ASSERT_EQ(best.size(), 4u);
  EXPECT_EQ(best[1].second, id(1));
  EXPECT_EQ(best[2].second, id(3));
  EXPECT_EQ(best[3].second, id(4));
}

}  // namespace
}  // namespace orrery
