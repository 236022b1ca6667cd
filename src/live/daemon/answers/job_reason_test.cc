#include "live/daemon/answers/job_reason.h"

#include "live/daemon/answers/job_times.h"
#include "live/daemon/answers/queries.h"
#include "live/daemon/core/test_core.h"

namespace orrery {
namespace {

using std::chrono::hours;
using std::chrono::seconds;

JobStatus shown(const TestCore& test, JobNumber job) {
  const Viewer viewer{.caller = kRoot};
  return status_of(test.core, {.ids = {job}}, viewer, test.now).jobs.at(0);
}

NodeStatus node(const TestCore& test, const std::string& name) {
  const NodesAnswer answer = nodes_of(test.core);
  return *std::ranges::find(answer.nodes, name, &NodeStatus::name);
}

TEST(JobReason, AGangsFailureNamesItsRankAndNode) {
  TestCore test;
  test.join("a", 1, 1);
  test.join("b", 1, 2);
  const JobNumber gang = test.submit({.gpus = 2});
  ASSERT_EQ(test.state(gang), JobState::Running);
  test.report("b", 1, 2, {ended({gang, 1, 1}, JobEnd::Kind::Exited, 3)});
  test.pass();
  EXPECT_EQ(shown(test, gang).reason, "exited with code 3 (rank 1 on b)");

  Core again{CoreOptions{}};
  ASSERT_TRUE(again.restore(test.core.snapshot(Duration::max())).ok());
  const Viewer viewer{.caller = kRoot};
  EXPECT_EQ(status_of(again, {.ids = {gang}}, viewer, test.now).jobs.at(0).reason,
            "exited with code 3 (rank 1 on b)");

  const JobNumber alone = test.submit({});
  test.report("a", 1, 1, {ended({alone, 1, 0}, JobEnd::Kind::Exited, 4)});
  test.pass();
  EXPECT_EQ(shown(test, alone).reason, "exited with code 4");
}

TEST(JobReason, OnlyAJobThatMoreNodesWouldStartWaitsForDevices) {
  TestCore test;
  test.join("a", 1, 1);
  const JobNumber runs = test.submit({});
  const JobNumber waits = test.submit({.gpus = 4, .gpu_type = "V100"});
  const JobNumber after = test.submit({.after = {runs}});
  test.pass();
  EXPECT_FALSE(shown(test, runs).waits_for_devices);
  EXPECT_TRUE(shown(test, waits).waits_for_devices);
  EXPECT_EQ(shown(test, waits).gpu_type, "V100");
  EXPECT_FALSE(shown(test, after).waits_for_devices);
}

TEST(JobReason, AJobThatWasCancelledWithAnotherNamesIt) {
  TestCore test;
  const JobNumber first = test.submit({.user = "ann"});
  const JobNumber second = test.submit({.user = "ann", .after = {first}});
  ASSERT_TRUE(test.core.cancel(kRoot, {.ids = {first}}, test.now).ok());
  test.pass();
  EXPECT_EQ(shown(test, first).reason, "cancelled");
  EXPECT_EQ(shown(test, second).reason, "cancelled: job #1, which it comes after, was not done");
}

TEST(JobReason, ADeadlineThatIsRefusedIsAnsweredByADate) {
  Book book{SpecOptions{}};
  ASSERT_TRUE(book.apply(EraBegan{.unix_ns = Duration(hours(24 * 20000)).count()}, {}).ok());
  const Reason late{.code = Reason::Code::TooLate, .earliest = Time(hours(3))};
  const std::string text = reason_text(book, late, Time(hours(2)));
  EXPECT_TRUE(
      text.starts_with("refused: not even alone could it be done in time; the earliest "
                       "that can be promised is 2024-10-0"))
      << text;
  EXPECT_TRUE(text.ends_with(" (in 1h00m)")) << text;
}

TEST(JobReason, ALostNodeHasItsJobsAndNoFreeGpus) {
  TestCore test;
  test.join("n", 4, 1);
  const JobNumber job = test.submit({});
  test.obey("n", 4, 1);
  EXPECT_EQ(node(test, "n").gpus_free, 3);
  test.core.disconnected(1);
  test.pass(seconds(16));
  const NodeStatus lost = node(test, "n");
  EXPECT_EQ(lost.state, "lost");
  EXPECT_EQ(lost.gpus_free, 0);
  EXPECT_EQ(lost.jobs, std::vector<JobNumber>{job});
}

TEST(JobTimes, TimeBetweenTwoRunsIsNotCounted) {
  LiveJob job;
  job.epoch = 2;
  job.runs = {{.epoch = 1, .ranks = 1, .began = Time(seconds(10)), .ran = seconds(40)},
              {.epoch = 2, .ranks = 1, .began = Time(seconds(100))}};
  job.launches = {{.name = {.job = 1, .epoch = 2, .rank = 0}}};
  EXPECT_EQ(time_ran(job, Time(seconds(130))), seconds(70));
  job.launches.clear();
  job.runs.back().ran = seconds(15);
  EXPECT_EQ(time_ran(job, Time(seconds(500))), seconds(55));
}

TEST(JobTimes, RunsThatOverlapCountOnce) {
  LiveJob job;
  job.runs = {{.epoch = 1, .ranks = 1, .began = Time(seconds(0)), .ran = seconds(60)},
              {.epoch = 2, .ranks = 1, .began = Time(seconds(50)), .ran = seconds(10)}};
  EXPECT_EQ(time_ran(job, Time(seconds(99))), seconds(60));
}

}  // namespace
}  // namespace orrery
