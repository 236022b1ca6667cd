#include "live/daemon/agents/node_users.h"

#include <gtest/gtest.h>

#include "live/daemon/core/test_core.h"

namespace orrery {
namespace {

LiveNode node_of(const std::string& only_user, NodeState state = NodeState::Up) {
  return {.offer = {.name = "n", .only_user = only_user}, .state = state};
}

Status check(const std::string& user, const std::vector<LiveNode>& nodes) {
  return check_nodes_for(user, nodes);
}

TEST(NodeUsers, AJobIsRefusedWhereEveryAgentRunsAsAnotherUser) {
  const Status refused = check("bob", {node_of("ann"), node_of("eve", NodeState::Lost)});
  ASSERT_FALSE(refused.ok());
  EXPECT_EQ(refused.error().code, Code::PermissionDenied);
  for (const char* part : {"permission denied", "bob", "ann or eve", "root"}) {
    EXPECT_NE(refused.error().message.find(part), std::string::npos) << refused.error().message;
  }
}

TEST(NodeUsers, AJobIsTakenWhereSomeNodeCanStartItOrNoneIsThereYet) {
  EXPECT_TRUE(check("bob", {}).ok());
  EXPECT_TRUE(check("bob", {node_of("ann"), node_of("")}).ok());
  EXPECT_TRUE(check("bob", {node_of("bob")}).ok());
  EXPECT_TRUE(check("bob", {node_of("ann", NodeState::Left)}).ok()) << "it is not there";
}

// The agent of node `n` runs as ann.
void join_as_ann(TestCore& test) {
  test.core.reported(1,
                     {.offer = {.name = "n", .address = "n", .gpus = 1, .only_user = "ann"},
                      .instance = "i-n",
                      .number = 1},
                     test.now);
  test.pass();
}

TEST(NodeUsers, TheSchedulerRefusesASubmissionThatNoAgentWouldStart) {
  TestCore test;
  join_as_ann(test);
  const auto refused = test.core.submit(kRoot, {.job = {.argv = {"x"}, .user = "bob"}}, test.now);
  ASSERT_FALSE(refused.ok());
  EXPECT_EQ(refused.error().code, Code::PermissionDenied);
  test.submit({.user = "ann"});
}

TEST(NodeUsers, ARefusalByTheAgentIsFinalAndBurnsNoRetries) {
  TestCore test;
  const JobNumber early = test.submit({.user = "bob", .retries = 5});
  join_as_ann(test);
  ASSERT_EQ(test.orders[1].assignments.size(), 1u);
  const LaunchName name = test.orders[1].assignments[0].name;
  test.core.reported(
      1,
      {.offer = {.name = "n", .address = "n", .gpus = 1, .only_user = "ann"},
       .instance = "i-n",
       .session = 1,
       .number = 2,
       .term = test.orders[1].term,
       .orders = test.orders[1].number,
       .launches = {{.name = name,
                     .state = LaunchState::Ended,
                     .end = {.kind = JobEnd::Kind::NotStarted, .message = "permission denied"}}}},
      test.now);
  test.pass();
  EXPECT_EQ(test.state(early), JobState::Failed);
}

}  // namespace
}  // namespace orrery
