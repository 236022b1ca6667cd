#include "live/api/stop_agreement.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "base/random.h"

namespace orrery {
namespace {

using namespace std::chrono_literals;
using State = StopAgreement::State;

constexpr Time at(Duration since) { return Time(since); }

StopAgreement asked(int ranks) { return {ranks, at(100s), {.answers = 10s, .leaving = 60s}}; }

TEST(StopAgreement, TheLargestAnswerIsWhereAllStop) {
  StopAgreement stop = asked(3);
  stop.answer(0, 17);
  stop.answer(2, 18);
  EXPECT_EQ(stop.look(at(101s)), State::Asking);
  EXPECT_EQ(stop.missing(), std::vector{1});
  stop.answer(1, 16);
  EXPECT_EQ(stop.look(at(102s)), State::Agreed);
  EXPECT_EQ(stop.iteration(), 18);
}

TEST(StopAgreement, ARankThatIsSilentForTooLongBringsTheSignal) {
  StopAgreement stop = asked(2);
  stop.answer(0, 5);
  EXPECT_EQ(stop.deadline(), at(110s));
  EXPECT_EQ(stop.look(at(110s - 1ns)), State::Asking);
  EXPECT_EQ(stop.look(at(110s)), State::Terminate);
  EXPECT_EQ(stop.missing(), std::vector{1});
  EXPECT_EQ(stop.iteration(), 0);
}

TEST(StopAgreement, AnAnswerAfterTheSignalChangesNothing) {
  StopAgreement stop = asked(1);
  EXPECT_EQ(stop.look(at(200s)), State::Terminate);
  stop.answer(0, 5);
  EXPECT_EQ(stop.look(at(201s)), State::Terminate);
  EXPECT_EQ(stop.deadline(), kNever);
}

TEST(StopAgreement, ARankWithoutASocketIsNotWaitedFor) {
  StopAgreement stop = asked(2);
  stop.answer(0, 5);
  stop.cannot_answer(1);
  EXPECT_EQ(stop.look(at(100s)), State::Terminate);
  EXPECT_EQ(stop.missing(), std::vector{1});
}

TEST(StopAgreement, ARankThatHasLeftNeedsNoAnswerAndHasNoSay) {
  StopAgreement stop = asked(3);
  stop.answer(0, 5);
  stop.answer(1, 900);
  stop.left(1);
  stop.cannot_answer(2);
  stop.left(2);
  EXPECT_EQ(stop.look(at(101s)), State::Agreed);
  EXPECT_EQ(stop.iteration(), 5);
}

TEST(StopAgreement, IsOverWhenAllHaveLeft) {
  StopAgreement stop = asked(2);
  stop.answer(0, 5);
  stop.answer(1, 5);
  EXPECT_EQ(stop.look(at(101s)), State::Agreed);
  stop.left(0);
  EXPECT_EQ(stop.look(at(102s)), State::Agreed);
  EXPECT_EQ(stop.missing(), std::vector{1});
  stop.left(1);
  EXPECT_EQ(stop.look(at(900s)), State::Over);
}

TEST(StopAgreement, ARankThatIsThereLongAfterTheAgreementGetsTheSignal) {
  StopAgreement stop = asked(2);
  stop.answer(0, 5);
  stop.answer(1, 5);
  EXPECT_EQ(stop.look(at(105s)), State::Agreed);
  stop.left(0);
  EXPECT_EQ(stop.deadline(), at(165s));
  EXPECT_EQ(stop.look(at(165s - 1ns)), State::Agreed);
  EXPECT_EQ(stop.look(at(165s)), State::Terminate);
  EXPECT_EQ(stop.missing(), std::vector{1});
}

TEST(StopAgreement, ARankPastTheAgreementBreaksIt) {
  StopAgreement stop = asked(2);
  stop.answer(0, 5);
  stop.answer(1, 7);
  EXPECT_EQ(stop.look(at(101s)), State::Agreed);
  stop.answer(0, 7);
  EXPECT_EQ(stop.look(at(102s)), State::Agreed) << "up to the agreement it may go";
  stop.answer(0, 8);
  EXPECT_EQ(stop.look(at(103s)), State::Terminate);
  EXPECT_EQ(stop.iteration(), 7);
}

TEST(StopAgreement, ASecondAnswerCountsOnlyWhereItIsLater) {
  StopAgreement stop = asked(2);
  stop.answer(0, 9);
  stop.answer(0, 4);
  stop.answer(1, 5);
  EXPECT_EQ(stop.look(at(101s)), State::Agreed);
  EXPECT_EQ(stop.iteration(), 9);
}

TEST(StopAgreement, StrangersAreNotHeard) {
  StopAgreement stop = asked(1);
  stop.answer(-1, 50);
  stop.answer(1, 50);
  stop.cannot_answer(1);
  stop.left(1);
  EXPECT_EQ(stop.look(at(101s)), State::Asking);
  stop.answer(0, 3);
  EXPECT_EQ(stop.look(at(101s)), State::Agreed);
  EXPECT_EQ(stop.iteration(), 3);
}

TEST(StopAgreement, PatienceWithoutEndDoesNotOverflow) {
  StopAgreement stop(1, at(100s), {.answers = Duration::max(), .leaving = 1s});
  EXPECT_EQ(stop.deadline(), kNever);
  EXPECT_EQ(stop.look(at(1000h)), State::Asking);
}

// Ranks that keep to the rules, whatever the order in which words arrive: each is somewhere, runs
// on only up to its own answer until it hears the agreement, and in the end all are at the same
// iteration.
TEST(StopAgreement, RanksInLockstepAllEndAtTheSameIteration) {
  for (std::uint64_t seed = 0; seed < 500; ++seed) {
    Random random(seed);
    const int ranks = static_cast<int>(random.between(1, 6));
    StopAgreement stop = asked(ranks);
    const std::int64_t start = random.between(0, 999);
    std::vector<std::int64_t> done(static_cast<std::size_t>(ranks));
    std::vector<std::int64_t> limit(done.size(), -1);  // -1: has not been asked yet
    for (auto& count : done) count = start + random.between(0, 1);
    for (int step = 0; step < 4000; ++step) {
      const auto rank = static_cast<std::size_t>(random.between(0, ranks - 1));
      const std::int64_t slowest = *std::min_element(done.begin(), done.end());
      const bool together = done[rank] == slowest;  // a collective needs every rank
      if (limit[rank] < 0 && random.between(0, 2) == 0) {
        limit[rank] = done[rank] + 1;
        stop.answer(static_cast<int>(rank), limit[rank]);
      } else if (together && (limit[rank] < 0 || done[rank] < limit[rank])) {
        ++done[rank];
      }
      if (stop.look(at(101s)) == State::Agreed) {
        for (auto& bound : limit) bound = stop.iteration();
      }
    }
    ASSERT_EQ(stop.look(at(102s)), State::Agreed) << "seed " << seed;
    for (const std::int64_t count : done) EXPECT_EQ(count, stop.iteration()) << "seed " << seed;
  }
}

}  // namespace
}  // namespace orrery
