// An agent, and schedulers that keep other logs.
#include "live/agent/test_node_agent.h"

namespace orrery {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;

const LaunchName kA{.job = 1};
const LaunchName kB{.job = 2};

TEST_F(NodeAgentTest, ASchedulerOfAnotherLogIsNotObeyedWhileJobsRun) {
  Orders mine = orders({assignment(kA, 1)});
  mine.log = "old";
  agent_->on_orders(mine, now_);
  report();
  EXPECT_EQ(last_.log, "old");
  Orders other = orders({assignment(kB, 2)});
  other.log = "new";
  other.term = 1'000'000;
  agent_->on_orders(other, now_);
  report();
  EXPECT_NE(last_.refuses.find("1 process of the log old"), std::string::npos) << last_.refuses;
  EXPECT_EQ(processes_.running().size(), 1u) << "the jobs of the log are not given up";
  EXPECT_FALSE(of(kB)) << "and none of another one is taken";
  Orders again = orders({assignment(kA, 1)});
  again.log = "old";
  agent_->on_orders(again, now_);
  report();
  EXPECT_EQ(last_.refuses, "");
}

TEST_F(NodeAgentTest, OnceItsJobsHaveEndedItObeysTheOtherLogAndKnowsNothingOfTheFirst) {
  scripts_[kA].runs = seconds(1);
  Orders mine = orders({assignment(kA, 1)});
  mine.log = "old";
  mine.term = 900;
  agent_->on_orders(mine, now_);
  pass(seconds(2));
  Orders other = orders({});
  other.log = "new";
  other.number = 0;  // as the scheduler has it for one that obeys another log
  agent_->on_orders(other, now_);
  report();
  EXPECT_EQ(last_.log, "new");
  EXPECT_EQ(last_.term, 0);
  EXPECT_TRUE(last_.launches.empty()) << "an end of the old log is not reported to the new one";
  // The same name again is another process: numbers of jobs may come again in a new log.
  other = orders({assignment(kA, 1)});
  other.log = "new";
  agent_->on_orders(other, now_);
  report();
  EXPECT_EQ(state(kA), State::Running);
  EXPECT_EQ(processes_.lease().log, "new");
}

TEST_F(NodeAgentTest, AnOperatorMayHaveTheJobsOfAnotherLogStopped) {
  scripts_[kA].leaves = milliseconds(1);
  Orders mine = orders({assignment(kA, 1)});
  mine.log = "old";
  agent_->on_orders(mine, now_);
  Orders other = orders({});
  other.log = "new";
  other.replaces = "old";
  agent_->on_orders(other, now_);
  EXPECT_EQ(processes_.asked_to_stop().at(kA), JobEnd::Kind::Stopped);
  pass(seconds(1));
  agent_->on_orders(orders({}), now_);
  other = orders({});
  other.log = "new";
  agent_->on_orders(other, now_);
  report();
  EXPECT_EQ(last_.log, "new");
}

TEST_F(NodeAgentTest, AnOldCopyOfTheLogIsNotObeyedAndThatIsSaid) {
  Orders mine = orders({assignment(kA, 1)});
  mine.log = "mine";
  mine.term = 7;
  agent_->on_orders(mine, now_);
  Orders old = orders({});
  old.log = "mine";
  old.term = 6;
  agent_->on_orders(old, now_);
  report();
  EXPECT_NE(last_.refuses.find("term 6"), std::string::npos) << last_.refuses;
  EXPECT_EQ(processes_.running().size(), 1u);
}

}  // namespace
}  // namespace orrery
