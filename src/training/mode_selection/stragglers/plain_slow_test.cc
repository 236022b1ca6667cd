#include "training/mode_selection/stragglers/plain_slow.h"

#include <gtest/gtest.h>

namespace orrery {
namespace {

// The tasks of each worker, in seconds.
IterationBook book_of(const std::vector<std::vector<double>>& tasks) {
  IterationBook book;
  for (std::size_t worker = 0; worker < tasks.size(); ++worker) {
    for (const double took_s : tasks[worker]) {
      book.add({.worker = WorkerId(static_cast<int>(worker)),
                .took = from_seconds(took_s),
                .samples = 32});
    }
  }
  return book;
}

using Workers = std::vector<WorkerId>;

TEST(PlainlySlow, FarSlowerThanMostTwiceInARow) {
  EXPECT_EQ(plainly_slow(book_of({{.1, .1}, {.25, .21}, {.1, .1}, {.1, .1}}).records()),
            Workers{WorkerId(1)});
  EXPECT_EQ(plainly_slow(book_of({{.1, .1}, {.25, .19}, {.1, .1}, {.1, .1}}).records()), Workers{});
  EXPECT_EQ(plainly_slow(book_of({{.1, .1}, {.19, .25}, {.1, .1}, {.1, .1}}).records()), Workers{});
}

TEST(PlainlySlow, EachTaskIsComparedWithTheOthersOfItsNumber) {
  // Each worker's first takes long.
  EXPECT_EQ(plainly_slow(book_of({{.9, .1}, {1, .1}, {.9, .1}}).records()), Workers{});
}

TEST(PlainlySlow, OneTaskIsEnoughIfAllWaitForItForLong) {
  EXPECT_EQ(plainly_slow(book_of({{.1}, {.5}, {.1}}).records()), Workers{});
  EXPECT_EQ(plainly_slow(book_of({{.1}, {.7}, {.1}}).records()), Workers{WorkerId(1)});
  // The others have gone on since.
  EXPECT_EQ(plainly_slow(book_of({{.1, .1}, {.7}, {.1, .1}}).records()), Workers{WorkerId(1)});
  EXPECT_EQ(plainly_slow(book_of({{5, 5}, {6, 6}, {5, 5}}).records()), Workers{});
}

TEST(PlainlySlow, ALinkThatAllWaitForIsEnough) {
  const auto with_link = [](double way_s) {
    IterationBook book;
    for (int worker = 0; worker < 4; ++worker) {
      const Usage use{.way_s = worker == 2 ? way_s : 0.01};
      book.add({.worker = WorkerId(worker),
                .took = std::chrono::milliseconds(80),
                .samples = 32,
                .usage = use});
    }
    return plainly_slow(book.records());
  };
  // 80 + 2 * 10 ms usually.
  EXPECT_EQ(with_link(0.061), Workers{WorkerId(2)});
  EXPECT_EQ(with_link(0.059), Workers{});
  EXPECT_EQ(with_link(0), Workers{}) << "not asked yet";
}

TEST(PlainlySlow, OfOneOrNoneNothingCanBeSaid) {
  EXPECT_EQ(plainly_slow({}), Workers{});
  EXPECT_EQ(plainly_slow(book_of({{9, 9}}).records()), Workers{});
}

TEST(PlainlySlow, SeveralMayBe) {
  EXPECT_EQ(plainly_slow(book_of({{.1, .1}, {.3, .3}, {.1, .1}, {.4, .5}, {.1, .1}}).records()),
            (Workers{WorkerId(1), WorkerId(3)}));
}

TEST(FirstCosts, OthersAreTakenToBeAlikeAndDifferByChance) {
  const IterationBook book = book_of({{.1, .08}, {.3, .4}, {.1, .1}, {.1, .12}});
  const std::vector<WorkerId> slow = plainly_slow(book.records());
  const FirstCosts first = first_costs(book.records(), slow, 32);
  ASSERT_EQ(first.costs.size(), 4u);
  for (const std::size_t usual : {0u, 2u, 3u}) EXPECT_NEAR(first.costs[usual].at(32), 0.1, 1e-9);
  EXPECT_NEAR(first.costs[1].at(32), 0.4, 1e-9);
  EXPECT_NEAR(first.scatter, 0.4 / 3, 1e-9);
}

TEST(Hanging, IsMuchLongerThanUsualAndLongInItself) {
  const IterationBook book = book_of({{.2, .2}, {.2, .2}, {.2, .2}});
  const auto of = [&](double took_s, bool computing) {
    const std::vector<TaskUnderWay> tasks{{.worker = WorkerId(2),
                                           .samples = 32,
                                           .took = from_seconds(took_s),
                                           .computing = computing}};
    return hanging(book.records(), tasks).size();
  };
  EXPECT_EQ(of(3.9, true), 0u);
  EXPECT_EQ(of(4.1, true), 1u);
  EXPECT_EQ(of(4.1, false), 0u) << "it waits for others";
  const IterationBook quick = book_of({{.01, .01}, {.01, .01}});
  const std::vector<TaskUnderWay> tasks{
      {.worker = WorkerId(1), .samples = 32, .took = std::chrono::milliseconds(1900)}};
  EXPECT_TRUE(hanging(quick.records(), tasks).empty()) << "two seconds are nothing";
}

}  // namespace
}  // namespace orrery
