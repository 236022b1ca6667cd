#include "training/trainer/checkpoint/best_keeper.h"

#include <gtest/gtest.h>

#include <boost/asio/executor_work_guard.hpp>

#include <limits>

#include "training/trainer/test_run.h"

namespace orrery {
namespace {

std::shared_ptr<Checkpoint> judged(ParameterVersion version, double accuracy, double loss = 1) {
  auto checkpoint = std::make_shared<Checkpoint>();
  checkpoint->conductor.version = version;
  checkpoint->parameters = {static_cast<float>(version)};
  checkpoint->judged = EvaluatedVersion{.version = version, .accuracy = accuracy, .loss = loss};
  return checkpoint;
}

struct Keeper {
  explicit Keeper(const std::string& folder)
      : best(io, writer, folder, [this](const Status& status) { failed += !status.ok(); }) {}
  void offer(const std::shared_ptr<Checkpoint>& checkpoint) {
    if (best.improves(*checkpoint->judged)) best.keep(checkpoint);
  }
  void wait() {
    while (best.busy()) io.run_one();
  }
  boost::asio::io_context io{1};
  boost::asio::executor_work_guard<boost::asio::io_context::executor_type> work{io.get_executor()};
  boost::asio::thread_pool writer{1};
  int failed = 0;
  BestKeeper best;
};

TEST(BestKeeper, KeepsTheHighestAccuracyAndOfEqualOnesTheLeastLoss) {
  const TestFolder folder;
  Keeper keeper(folder.path());
  keeper.offer(judged(1, 0.5));
  keeper.wait();
  keeper.offer(judged(2, 0.97, 0.3));
  keeper.offer(judged(3, 0.97, 0.2));
  keeper.offer(judged(4, 0.97, 0.4));
  keeper.offer(judged(5, 0.929));
  keeper.offer(judged(6, std::numeric_limits<double>::quiet_NaN()));
  keeper.wait();
  const auto kept = read_checkpoint(best_checkpoint_path(folder.path()));
  ASSERT_TRUE(kept.ok());
  EXPECT_EQ(kept.value().parameters, std::vector<float>{3});
  ASSERT_TRUE(kept.value().judged);
  EXPECT_EQ(kept.value().judged->version, 3);
  EXPECT_EQ(kept.value().judged->accuracy, 0.97);
  EXPECT_EQ(keeper.best.on_disk()->version, 3);
  EXPECT_EQ(keeper.failed, 0);
}

TEST(BestKeeper, TheNextSessionKnowsWhatWasBest) {
  const TestFolder folder;
  {
    Keeper first(folder.path());
    first.offer(judged(7, 0.9));
    first.wait();
  }
  Keeper second(folder.path());
  second.best.recall();
  EXPECT_FALSE(second.best.improves({.accuracy = 0.8}));
  EXPECT_TRUE(second.best.improves({.accuracy = 0.91}));
  EXPECT_EQ(second.best.on_disk()->version, 7);
}

TEST(BestKeeper, AWriteThatFailsIsReportedAndIsNotOnTheDisk) {
  Keeper keeper("/proc/nowhere");
  keeper.offer(judged(1, 0.5));
  keeper.wait();
  EXPECT_EQ(keeper.failed, 1);
  EXPECT_FALSE(keeper.best.on_disk());
  EXPECT_EQ(keeper.best.best()->version, 1);
}

// It is no checkpoint to go on from by itself, and the pruning of those leaves it alone.
TEST(BestKeeper, StandsApartFromTheNewestCheckpoints) {
  const TestFolder folder;
  ASSERT_TRUE(write_best_checkpoint(folder.path(), *judged(9, 0.9)).ok());
  EXPECT_EQ(newest_checkpoint(folder.path()).error().code, Code::NotFound);
  for (int version = 10; version < 13; ++version) {
    ASSERT_TRUE(write_checkpoint(folder.path(), *judged(version, 0.1), 1).ok());
  }
  EXPECT_EQ(newest_checkpoint(folder.path()).value().checkpoint.conductor.version, 12);
  EXPECT_TRUE(read_checkpoint(best_checkpoint_path(folder.path())).ok());
}

TEST(BestKeeper, GoingOnFromTheBestRenamesNewerCheckpoints) {
  const TestFolder folder;
  ASSERT_TRUE(write_checkpoint(folder.path(), *judged(8, 0.1), 3).ok());
  ASSERT_TRUE(write_best_checkpoint(folder.path(), *judged(9, 0.9)).ok());
  ASSERT_TRUE(write_checkpoint(folder.path(), *judged(12, 0.1), 3).ok());
  ASSERT_TRUE(begin_at_best(folder.path()).ok());
  EXPECT_EQ(newest_checkpoint(folder.path()).value().checkpoint.conductor.version, 9);
  EXPECT_TRUE(read_checkpoint(folder.path() + "/set-aside-000000000012.orc").ok());
  EXPECT_TRUE(read_checkpoint(best_checkpoint_path(folder.path())).ok());
  const TestFolder none;
  EXPECT_EQ(begin_at_best(none.path()).error().code, Code::NotFound);
}

}  // namespace
}  // namespace orrery
