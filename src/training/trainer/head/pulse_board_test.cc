#include "training/trainer/head/pulse_board.h"

#include <gtest/gtest.h>

namespace orrery {
namespace {

using std::chrono::seconds;

const PulseBoard::Clock::time_point kStart{seconds(1000)};

// Looks each second, as the head does.
std::vector<PulseBoard::Silence> look_until(PulseBoard& board, int from, int to) {
  std::vector<PulseBoard::Silence> seen;
  for (int at = from; at <= to; ++at) seen = board.look(kStart + seconds(at));
  return seen;
}

TEST(PulseBoard, APartThatNeverAnsweredIsNotJudged) {
  PulseBoard board(5);
  EXPECT_TRUE(look_until(board, 0, 60).empty());
}

TEST(PulseBoard, ASilentPartIsReportedFromTheLimitOn) {
  PulseBoard board(5);
  board.heard(PartRole::Worker, 2, kStart);
  EXPECT_TRUE(look_until(board, 0, 4).empty());
  auto seen = look_until(board, 5, 5);
  ASSERT_EQ(seen.size(), 1u);
  EXPECT_EQ(seen[0].id, 2);
  EXPECT_TRUE(seen[0].first);
  seen = look_until(board, 6, 9);
  ASSERT_EQ(seen.size(), 1u);
  EXPECT_FALSE(seen[0].first) << "one warning is enough";
  EXPECT_EQ(seen[0].silent_s, 9);
}

TEST(PulseBoard, APartThatAnswersAgainIsReportedOnce) {
  PulseBoard board(5);
  board.heard(PartRole::Shard, 0, kStart);
  look_until(board, 0, 7);
  board.heard(PartRole::Shard, 0, kStart + seconds(8));
  const auto seen = look_until(board, 8, 8);
  ASSERT_EQ(seen.size(), 1u);
  EXPECT_TRUE(seen[0].over);
  EXPECT_EQ(seen[0].silent_s, 7);
  EXPECT_TRUE(look_until(board, 9, 10).empty());
}

TEST(PulseBoard, AStopOfTheHeadItselfIsNotHeldAgainstTheParts) {
  PulseBoard board(5);
  board.heard(PartRole::Worker, 1, kStart);
  look_until(board, 0, 1);
  EXPECT_TRUE(look_until(board, 100, 102).empty());
  EXPECT_EQ(look_until(board, 103, 103).size(), 1u);
}

TEST(PulseBoard, ALookThatComesLateCountsAsOneOnTime) {
  PulseBoard board(5);
  board.heard(PartRole::Worker, 1, kStart);
  EXPECT_TRUE(board.look(kStart).empty());
  for (int look = 1; look <= 4; ++look) {
    EXPECT_TRUE(board.look(kStart + look * std::chrono::milliseconds(2900)).empty()) << look;
  }
  EXPECT_EQ(board.look(kStart + 5 * std::chrono::milliseconds(2900)).size(), 1u);
}

TEST(PulseBoard, AHeartbeatDuringALateLookEndsTheSilence) {
  PulseBoard board(2);
  board.heard(PartRole::Worker, 1, kStart);
  look_until(board, 0, 1);
  board.heard(PartRole::Worker, 1, kStart + seconds(30));
  EXPECT_TRUE(look_until(board, 31, 32).empty());
  EXPECT_EQ(look_until(board, 33, 33).size(), 1u);
}

TEST(PulseBoard, APartThatIsGoneIsForgotten) {
  PulseBoard board(5);
  board.heard(PartRole::Worker, 1, kStart);
  board.forget(PartRole::Worker, 1);
  EXPECT_TRUE(look_until(board, 0, 60).empty());
}

}  // namespace
}  // namespace orrery
