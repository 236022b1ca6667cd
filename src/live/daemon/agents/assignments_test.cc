#include "live/daemon/agents/assignments.h"

#include "live/daemon/core/test_core.h"

namespace orrery {
namespace {

using std::chrono::minutes;
using std::chrono::seconds;

std::vector<LaunchName> names_of(const Orders& orders) {
  std::vector<LaunchName> names;
  for (const Assignment& assignment : orders.assignments) names.push_back(assignment.name);
  return names;
}

LaunchReport running(const LaunchName& name, int port) {
  LaunchReport report{.name = name, .state = LaunchState::Running};
  report.master_port = port;
  return report;
}

class OnTwoNodes : public testing::Test {
 protected:
  void SetUp() override {
    test_.join("a", 2, 1);
    test_.join("b", 2, 2);
    JobRequest job{.gpus = 4};
    job.process_per_gpu = true;
    test_.submit(std::move(job));
  }
  TestCore test_;
  const LaunchName first_{.job = 1, .epoch = 1, .rank = 0};
  const LaunchName second_{.job = 1, .epoch = 1, .rank = 1};
  const LaunchName third_{.job = 1, .epoch = 1, .rank = 2};
  const LaunchName fourth_{.job = 1, .epoch = 1, .rank = 3};
};

TEST_F(OnTwoNodes, EveryProcessSeesAllGpusOfItsJobOnTheNode) {
  ASSERT_EQ(names_of(test_.orders[1]), (std::vector{first_, second_}));
  const std::vector<Assignment>& ranks = test_.orders[1].assignments;
  EXPECT_EQ(ranks[0].gpus, 0b01U);
  EXPECT_EQ(ranks[1].gpus, 0b10U);
  EXPECT_EQ(ranks[0].gpus_visible, 0b11U);
  EXPECT_EQ(ranks[1].gpus_visible, 0b11U);
  EXPECT_EQ(ranks[0].local_rank, 0);
  EXPECT_EQ(ranks[1].local_rank, 1);
}

TEST_F(OnTwoNodes, TheOtherNodeBeginsOnceTheFirstHasAPort) {
  EXPECT_EQ(test_.orders[1].assignments[0].master_port, 0) << "its agent chooses";
  EXPECT_TRUE(test_.orders[2].assignments.empty());
  test_.report("a", 2, 1, {running(first_, 21'000), running(second_, 21'000)});
  test_.pass();
  ASSERT_EQ(names_of(test_.orders[2]), (std::vector{third_, fourth_}));
  EXPECT_EQ(test_.orders[2].assignments[0].master_port, 21'000);
  EXPECT_EQ(test_.orders[2].assignments[1].master_port, 21'000);
}

TEST_F(OnTwoNodes, ARestartedSchedulerStopsNoLaunchWhilePortsAreUnknown) {
  test_.report("a", 2, 1, {running(first_, 21'000), running(second_, 21'000)});
  test_.pass();
  test_.report("b", 2, 2, {running(third_, 21'000), running(fourth_, 21'000)});
  test_.pass();
  Core again{CoreOptions{}};
  for (const Record& record : test_.log) ASSERT_TRUE(again.recover(record).ok());
  ASSERT_TRUE(again.begin(1, test_.now).ok());
  // The second node comes first, and the scheduler knows no port.
  again.reported(3,
                 {.offer = {.name = "b", .address = "b", .gpus = 2},
                  .instance = "i-b",
                  .number = 1,
                  .launches = {running(third_, 21'000), running(fourth_, 21'000)}},
                 test_.now);
  again.tick(test_.now);
  again.take_records();
  const auto orders = again.take_orders();
  ASSERT_EQ(orders.size(), 1U);
  EXPECT_EQ(names_of(orders[0].orders), (std::vector{third_, fourth_}));
}

TEST_F(OnTwoNodes, WhereTheFirstRankHasEndedTheOthersDoNotWaitForIt) {
  test_.report("a", 2, 1, {ended(first_), running(second_, 0)});
  test_.pass();
  EXPECT_EQ(names_of(test_.orders[2]), (std::vector{third_, fourth_}));
}

TEST(Assignments, OutputPatternsStandForTheJobAndItsProcess) {
  TestCore test;
  test.join("gpu-1", 2, 1);
  JobRequest job{.name = "train", .user = "ann", .array = {5, 7}};
  job.output = "/out/%x-%u-%A_%a-%j.%r.%N";
  job.errors = "/out/%j.err";
  test.submit(job);
  const std::vector<Assignment>& assignments = test.orders[1].assignments;
  ASSERT_EQ(assignments.size(), 2U);
  EXPECT_EQ(assignments[0].output, "/out/train-ann-1_5-1.0.gpu-1");
  EXPECT_EQ(assignments[1].output, "/out/train-ann-1_7-2.0.gpu-1");
  EXPECT_EQ(assignments[1].errors, "/out/2.err");
}

TEST(Assignments, ATimeLimitCountsRunningTimeOverAllRuns) {
  TestCore test;
  test.join("a", 1, 1);
  JobRequest job{.grace = seconds(1)};
  job.time_limit = minutes(10);
  test.submit(std::move(job));
  ASSERT_EQ(test.orders[1].assignments.size(), 1U);
  EXPECT_EQ(test.orders[1].assignments[0].time_left, minutes(10));
  test.obey("a", 1, 1);
  // Its node is wanted empty after four minutes, and is there again much later.
  for (int i = 0; i < 24; ++i) {
    test.now += seconds(10);
    test.obey("a", 1, 1);
  }
  ASSERT_TRUE(test.core.drain(kRoot, {.node = "a", .now = true}, test.now).ok());
  test.pass();
  LaunchReport end = ended({.job = 1, .epoch = 1}, JobEnd::Kind::Stopped);
  end.end.ran_ns = Duration(minutes(4)).count();
  test.report("a", 1, 1, {end});
  test.pass();
  EXPECT_EQ(test.state(1), JobState::Paused);
  for (int i = 0; i < 60; ++i) {
    test.now += seconds(10);
    test.obey("a", 1, 1);
  }
  ASSERT_TRUE(test.core.drain(kRoot, {.node = "a", .resume = true}, test.now).ok());
  test.pass();
  ASSERT_EQ(test.orders[1].assignments.size(), 1U);
  EXPECT_EQ(test.orders[1].assignments[0].time_left, minutes(6));
  // A scheduler that starts again counts the same.
  Core again{CoreOptions{}};
  for (const Record& record : test.log) ASSERT_TRUE(again.recover(record).ok());
  EXPECT_EQ(time_left(again.book().job(JobId{0})), minutes(6));
  Core from_snapshot{CoreOptions{}};
  ASSERT_TRUE(from_snapshot.restore(test.core.snapshot(Duration::max())).ok());
  EXPECT_EQ(time_left(from_snapshot.book().job(JobId{0})), minutes(6));
}

TEST(Assignments, AJobThatReachesItsTimeLimitHasFailedAndIsNotTriedAgain) {
  TestCore test;
  test.join("a", 1, 1);
  JobRequest job{.retries = 3};
  job.time_limit = minutes(10);
  test.submit(std::move(job));
  test.report("a", 1, 1, {ended({.job = 1, .epoch = 1}, JobEnd::Kind::TimeLimit)});
  test.pass();
  EXPECT_EQ(test.state(1), JobState::Failed);
}

}  // namespace
}  // namespace orrery
