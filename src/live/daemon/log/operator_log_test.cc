#include "live/daemon/log/operator_log.h"

#include "live/daemon/core/test_core.h"

namespace orrery {
namespace {

using std::chrono::seconds;

// What the operator's log has of the records of a test.
std::vector<std::string> lines(TestCore& test) {
  test.write_down();
  std::vector<std::string> found;
  for (const Record& record : test.log) {
    if (std::string line = operator_line(record); !line.empty()) found.push_back(std::move(line));
  }
  return found;
}

TEST(OperatorLog, ANodeIsNamedWhenItJoinsIsLostAndReportsAgain) {
  TestCore test;
  test.join("n", 2, 1);
  test.submit({});
  test.pass(seconds(20));
  test.obey("n", 2, 1);
  ASSERT_TRUE(test.core.drain(kRoot, {.node = "n"}, test.now).ok());
  EXPECT_EQ(lines(test),
            (std::vector<std::string>{
                "node n offers 2 GPUs",
                "node n is lost: it has not reported for its lease. Its jobs wait for it until "
                "their node timeout",
                "node n reports again", "root drains node n"}));
}

TEST(OperatorLog, AMachineThatAnOperatorReportsAsOffIsNamed) {
  TestCore test;
  test.join("n", 2, 1);
  test.pass(seconds(20));
  ASSERT_TRUE(test.core.drain(kRoot, {.node = "n"}, test.now).ok());
  EXPECT_EQ(lines(test).back(), "root drains node n");
  ASSERT_TRUE(test.core.drain(kRoot, {.node = "n", .lost = true}, test.now).ok());
  EXPECT_EQ(lines(test).back(), "node n is off, says root");
}

}  // namespace
}  // namespace orrery
