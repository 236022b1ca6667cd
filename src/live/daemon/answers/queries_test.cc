#include "live/daemon/answers/queries.h"

#include "live/daemon/core/test_core.h"

namespace orrery {
namespace {

using std::chrono::hours;
using std::chrono::minutes;
using std::chrono::seconds;

JobStatus status_of(const TestCore& test, JobNumber job) {
  const Viewer viewer{.caller = kRoot};
  return status_of(test.core, {.ids = {job}}, viewer, test.now).jobs.at(0);
}

std::string note_of(const TestCore& test) { return nodes_of(test.core).nodes.at(0).note; }

LaunchReport progress(JobNumber job, double iteration, double checkpointed) {
  return {.name = {job, 1, 0},
          .state = LaunchState::Running,
          .iteration = iteration,
          .iterations = 1000,
          .checkpointed = checkpointed};
}

TEST(StatusOf, APromiseIsMissedOnceItsTimeHasPassedAndTheJobIsNotDone) {
  TestCore test({.policy = {.name = "elasticflow"}});
  test.join("n", 2, 1);
  const JobNumber late = test.submit(
      {.argv = {"train"}, .gpus = 1, .expected = seconds(60), .deadline = seconds(300)});
  const JobNumber in_time = test.submit(
      {.argv = {"train"}, .gpus = 1, .expected = seconds(60), .deadline = seconds(300)});
  test.obey("n", 2, 1);
  ASSERT_EQ(test.state(late), JobState::Running);
  ASSERT_EQ(test.state(in_time), JobState::Running);
  EXPECT_TRUE(status_of(test, late).promised_s);
  EXPECT_FALSE(status_of(test, late).promise_missed);
  const std::int64_t epoch = test.job(in_time).epoch;
  test.report("n", 2, 1,
              {{.name = {late, test.job(late).epoch, 0}, .state = LaunchState::Running},
               ended({in_time, epoch, 0})});
  test.pass();
  ASSERT_EQ(test.state(in_time), JobState::Done);
  for (int i = 0; i < 60; ++i) {
    test.now += seconds(10);
    test.obey("n", 2, 1);
  }
  EXPECT_TRUE(status_of(test, late).promise_missed);
  EXPECT_TRUE(status_of(test, late).deadline_missed);
  EXPECT_FALSE(status_of(test, in_time).promise_missed) << "it was done in time";
}

// A node that runs one job for an hour, and then is silent.
void lose_node_after_an_hour(TestCore& test, const LaunchReport& report) {
  for (int i = 0; i < 360; ++i) {
    test.now += seconds(10);
    test.report("n", 1, 1, {report});
    test.pass();
  }
  test.pass(minutes(1));
}

TEST(NodesOf, ALostNodeNamesTheWorkThatIsLostWithIt) {
  TestCore test({.node_timeout = hours(12)});
  test.join("n", 1, 1);
  const JobNumber job = test.submit({});
  lose_node_after_an_hour(test, {.name = {job, 1, 0}, .state = LaunchState::Running});
  EXPECT_NE(note_of(test).find("orrery drain n --lost (job 1 loses 1h01m of work)"),
            std::string::npos)
      << note_of(test);
  EXPECT_EQ(status_of(test, job).reason,
            "waits for node n, which does not answer; 1h01m of work is lost if it stays away");
}

TEST(NodesOf, OnlyWorkSinceTheLastCheckpointIsLost) {
  TestCore test({.node_timeout = hours(12)});
  test.join("n", 1, 1);
  const JobNumber job = test.submit({});
  lose_node_after_an_hour(test, progress(job, 600, 450));
  EXPECT_NE(note_of(test).find("(job 1 loses 15m15s of work)"), std::string::npos) << note_of(test);
}

TEST(NodesOf, ANodeThatDrainsNamesTheWorkOfJobsWithoutACheckpoint) {
  TestCore test;
  test.join("n", 1, 1);
  const JobNumber job = test.submit({});
  for (int i = 0; i < 30; ++i) {
    test.now += seconds(10);
    test.obey("n", 1, 1);
  }
  EXPECT_EQ(note_of(test), "");
  ASSERT_TRUE(test.core.drain(kRoot, {.node = "n"}, test.now).ok());
  EXPECT_EQ(note_of(test), "to stop its jobs: orrery drain n --now (job 1 loses 5m00s of work)");
  test.report("n", 1, 1, {progress(job, 600, 450)});
  test.pass();
  EXPECT_EQ(note_of(test), "") << "a job that saves its work is asked to before it stops";
}

}  // namespace
}  // namespace orrery
