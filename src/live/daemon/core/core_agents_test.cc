// Reports that come late, or from an agent that is not the node's.
#include "live/daemon/answers/queries.h"
#include "live/daemon/core/test_core.h"

namespace orrery {
namespace {

using std::chrono::seconds;

Report of_boot(const std::string& boot, std::int64_t number) {
  return {.offer = {.name = "n", .address = "n", .gpus = 1},
          .instance = "i-" + boot,
          .number = number,
          .machine = "m",
          .boot = boot};
}

TEST(CoreAgents, ALateReportOfABootThatNeverReportedDoesNotReplaceALaterBoot) {
  TestCore test;
  test.core.reported(1, of_boot("b1", 1), test.now);
  test.pass();
  // The machine starts twice. The first report of the second boot arrives after the third's.
  test.core.reported(3, of_boot("b3", 1), test.now);
  test.pass();
  test.core.reported(2, of_boot("b2", 1), test.now);
  test.pass();
  EXPECT_EQ(test.core.book().nodes().front().boot, "b3");
  for (int i = 0; i < 10; ++i) {
    test.now += seconds(5);
    test.core.reported(3, of_boot("b3", 2 + i), test.now);
    test.pass();
  }
  EXPECT_EQ(test.core.book().nodes().front().state, NodeState::Up);
  EXPECT_EQ(test.core.contact(NodeId{0}).connection, 3);
}

TEST(CoreAgents, AReportOverAReplacedConnectionIsLateEvenAfterTheNewOneIsGone) {
  TestCore test;
  test.core.reported(1, of_boot("b1", 1), test.now);
  test.core.reported(3, of_boot("b3", 1), test.now);
  test.core.disconnected(3);
  test.core.reported(2, of_boot("b2", 1), test.now);
  test.pass();
  EXPECT_EQ(test.core.book().nodes().front().boot, "b3");
  EXPECT_EQ(test.core.contact(NodeId{0}).connection, 0);
}

TEST(CoreAgents, AnAgentOfAnEarlierBootIsRefusedInWords) {
  TestCore test;
  test.core.reported(1, of_boot("b1", 1), test.now);
  test.core.reported(2, of_boot("b2", 1), test.now);
  test.core.reported(3, of_boot("b1", 2), test.now);
  test.pass();
  EXPECT_EQ(test.core.book().nodes().front().boot, "b2");
  EXPECT_EQ(test.orders[3].refused, "the machine of n has been started again since this agent was");
}

// As one with a full disk: the jobs that it was given begin elsewhere, and it is given no others.
TEST(CoreAgents, ANodeThatCanStartNoJobLosesNoneAndGetsNoneUntilItCan) {
  TestCore test;
  test.join("full", 1, 1);
  const JobNumber job = test.submit({.retries = 0});
  ASSERT_EQ(test.orders[1].assignments.size(), 1u);
  const LaunchName first = test.orders[1].assignments.front().name;
  test.report("full", 1, 1, {ended(first, JobEnd::Kind::SupervisorLost)}, "no space left");
  test.pass();
  EXPECT_EQ(test.state(job), JobState::Paused);
  EXPECT_TRUE(test.orders[1].assignments.empty());
  const NodesAnswer shown = nodes_of(test.core);
  EXPECT_EQ(shown.nodes.front().state, "faulty");
  EXPECT_EQ(shown.nodes.front().note, "can start no job: no space left");
  EXPECT_EQ(shown.nodes.front().gpus_free, 0);
  Core again{CoreOptions{}};
  for (const Record& record : test.log) ASSERT_TRUE(again.recover(record).ok());
  EXPECT_EQ(again.book().nodes().front().offer.fault, "no space left") << "it is in the log";
  test.join("other", 1, 2);
  ASSERT_EQ(test.orders[2].assignments.size(), 1u);
  EXPECT_EQ(test.orders[2].assignments.front().name.job, job);
  const JobNumber next = test.submit({});
  EXPECT_EQ(test.state(next), JobState::Pending);
  test.report("full", 1, 1, {});
  test.pass();
  ASSERT_EQ(test.orders[1].assignments.size(), 1u);
  EXPECT_EQ(test.orders[1].assignments.front().name.job, next);
}

}  // namespace
}  // namespace orrery
