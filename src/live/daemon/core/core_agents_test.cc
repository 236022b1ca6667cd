// Reports that come late, or from an agent that is not the node's.
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

}  // namespace
}  // namespace orrery
