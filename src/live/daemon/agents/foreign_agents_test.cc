#include "live/daemon/agents/foreign_agents.h"

#include <gtest/gtest.h>

namespace orrery {
namespace {

const OwnLog kOwn{.id = "new", .term = 5};

Report report(const std::string& log, std::int64_t term) {
  return {.offer = {.name = "n"}, .instance = "i", .number = 7, .term = term, .log = log};
}

TEST(ForeignAgents, AnAgentOfThisLogOrOfNoneIsNone) {
  ForeignAgents foreign;
  EXPECT_FALSE(foreign.take(report("", 9), kOwn, {}));
  EXPECT_FALSE(foreign.take(report("new", 5), kOwn, {}));
  EXPECT_TRUE(foreign.agents().empty());
}

TEST(ForeignAgents, AnAnswerToAnAgentOfAnotherLogNamesThisOne) {
  ForeignAgents foreign;
  ASSERT_TRUE(foreign.take(report("old", 3), kOwn, {}));
  const Orders answer = foreign.answer(report("old", 3), kOwn, 4);
  EXPECT_EQ(answer.log, "new");
  EXPECT_EQ(answer.instance, "i");
  EXPECT_EQ(answer.report, 7);
  EXPECT_EQ(answer.number, 0) << "it is no order";
  EXPECT_EQ(answer.replaces, "");
  EXPECT_FALSE(foreign.take(report("new", 5), kOwn, {}));
  EXPECT_TRUE(foreign.agents().empty()) << "it has come over";
}

TEST(ForeignAgents, ALaterTermOfThisLogIsAnotherHistory) {
  ForeignAgents foreign;
  EXPECT_TRUE(foreign.take(report("new", 6), kOwn, {}));
}

TEST(ForeignAgents, AnOperatorMayHaveItsJobsStopped) {
  ForeignAgents foreign;
  EXPECT_FALSE(foreign.replace("n"));
  ASSERT_TRUE(foreign.take(report("old", 3), kOwn, {}));
  EXPECT_TRUE(foreign.replace("n"));
  ASSERT_TRUE(foreign.take(report("old", 3), kOwn, {}));
  EXPECT_EQ(foreign.answer(report("old", 3), kOwn, 4).replaces, "old");
}

}  // namespace
}  // namespace orrery
