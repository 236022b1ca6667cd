#include "simulation/kernel/saved_work.h"

#include <gtest/gtest.h>

namespace orrery {
namespace {

Time at(double value_s) { return time_from_seconds(value_s); }

Workload one_job() {
  Workload workload;
  workload.jobs.emplace_back();
  return workload;
}

const JobId kJob{0};

TEST(SavedWork, WithoutCheckpointsAllSinceTheStartIsLost) {
  const Workload workload = one_job();
  SavedWork saved({}, workload);
  saved.start(kJob, at(0), at(10), 100);
  saved.check(kJob, at(40), 70);
  const auto loss = saved.lose(kJob, at(60), 60, {});
  EXPECT_EQ(loss.work_left, 100);
  EXPECT_EQ(loss.work_lost, 40);
  EXPECT_EQ(saved.factor(kJob), 1);
}

TEST(SavedWork, AfterALossTheLastCheckpointIsLeft) {
  const Workload workload = one_job();
  SavedWork saved({.checkpoint_interval = std::chrono::seconds(20)}, workload);
  saved.start(kJob, at(0), at(10), 100);
  // Saves at 30 and 50; an iteration a second.
  const auto loss = saved.lose(kJob, at(65), 45, {});
  EXPECT_DOUBLE_EQ(loss.work_left, 60);
  EXPECT_DOUBLE_EQ(loss.work_lost, 15);
}

TEST(SavedWork, ACheckpointIsFoundWhereThePaceChangedAfterIt) {
  const Workload workload = one_job();
  SavedWork saved({.checkpoint_interval = std::chrono::seconds(20)}, workload);
  saved.start(kJob, at(0), at(0), 100);
  saved.check(kJob, at(30), 70);  // saved at 20
  saved.check(kJob, at(38), 66);  // half as fast, and no save in between
  const auto loss = saved.lose(kJob, at(39), 66, {});
  EXPECT_DOUBLE_EQ(loss.work_left, 80);
}

TEST(SavedWork, TheCostOfASaveLengthensThePeriodAndTheIterations) {
  const Workload workload = one_job();
  SavedWork saved(
      {.checkpoint_interval = std::chrono::seconds(20), .checkpoint_cost = std::chrono::seconds(5)},
      workload);
  EXPECT_DOUBLE_EQ(saved.factor(kJob), 1.25);
  saved.start(kJob, at(0), at(0), 100);
  // At 0.8 iterations a second, 20 are done when the save ends at 25.
  const auto loss = saved.lose(kJob, at(49), 100 - 49 * 0.8, {});
  EXPECT_DOUBLE_EQ(loss.work_left, 80);
}

TEST(SavedWork, TheCostThatAJobStatesIsItsOwn) {
  Workload workload = one_job();
  workload.jobs[0].checkpoint_cost = std::chrono::seconds(10);
  const SavedWork saved(
      {.checkpoint_interval = std::chrono::seconds(20), .checkpoint_cost = std::chrono::seconds(5)},
      workload);
  EXPECT_DOUBLE_EQ(saved.factor(kJob), 1.5);
}

TEST(SavedWork, ANoticeThatIsLongEnoughLosesNothingButTheTimeOfTheSave) {
  const Workload workload = one_job();
  SavedWork saved({.checkpoint_cost = std::chrono::seconds(5)}, workload);
  saved.start(kJob, at(0), at(0), 100);
  const auto loss = saved.lose(kJob, at(60), 40, std::chrono::seconds(5));
  EXPECT_DOUBLE_EQ(loss.work_left, 45);
  EXPECT_EQ(loss.work_lost, 0);
}

TEST(SavedWork, ANoticeShorterThanASaveHelpsNothing) {
  const Workload workload = one_job();
  SavedWork saved({.checkpoint_cost = std::chrono::seconds(5)}, workload);
  saved.start(kJob, at(0), at(0), 100);
  EXPECT_EQ(saved.lose(kJob, at(60), 40, std::chrono::seconds(4)).work_lost, 60);
}

TEST(SavedWork, AJobThatHasNotBegunLosesNothing) {
  const Workload workload = one_job();
  SavedWork saved({.checkpoint_interval = std::chrono::seconds(20)}, workload);
  saved.start(kJob, at(0), at(30), 100);
  EXPECT_EQ(saved.lose(kJob, at(25), 100, {}).work_left, 100);
  EXPECT_EQ(saved.lose(kJob, at(25), 100, std::chrono::seconds(60)).work_left, 100);
}

}  // namespace
}  // namespace orrery
