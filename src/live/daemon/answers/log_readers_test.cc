#include "live/daemon/answers/log_readers.h"

#include "live/daemon/core/test_core.h"

namespace orrery {
namespace {

using std::chrono::seconds;

class LogReading : public testing::Test {
 protected:
  // Asks, and answers by `answers_`.
  void ask(LogsRequest request) {
    readers_.ask(test_.core, test_.now, request,
                 [this](Result<LogsAnswer> answer) { answers_.push_back(std::move(answer)); });
    test_.pass();
  }
  void pass(Duration time = {}) {
    test_.pass(time);
    readers_.pass(test_.core, test_.now);
    test_.pass();
  }
  void hear(std::int64_t connection, LogPiece piece) {
    ASSERT_FALSE(test_.orders[connection].logs.empty());
    piece.request = test_.orders[connection].logs.back().request;
    readers_.heard(test_.core, piece);
  }
  LogsAnswer last() const {
    EXPECT_FALSE(answers_.empty());
    if (answers_.empty() || !answers_.back().ok()) return {};
    return answers_.back().value();
  }

  TestCore test_;
  LogReaders readers_;
  std::vector<Result<LogsAnswer>> answers_;
};

TEST_F(LogReading, AFollowerOfAPendingJobWaitsUntilItStarts) {
  test_.submit({});
  ask({.id = 1, .wait = seconds(30)});
  EXPECT_TRUE(answers_.empty()) << "there is no node yet";
  test_.join("a", 1, 1);
  pass();
  ASSERT_EQ(test_.orders[1].logs.size(), 1U);
  hear(1, {.bytes = "hello\n"});
  EXPECT_EQ(last().bytes, "hello\n");
  EXPECT_FALSE(last().ended);
}

TEST_F(LogReading, AFollowerHearsInTimeThatTheJobStillWaits) {
  test_.submit({});
  ask({.id = 1, .wait = seconds(1)});
  EXPECT_EQ(readers_.due(), test_.now + seconds(1));
  pass(seconds(1));
  ASSERT_EQ(answers_.size(), 1U);
  EXPECT_FALSE(last().ended);
  EXPECT_EQ(last().next, 0);
}

// An agent may still hold requests of the scheduler before this one, of other users' jobs.
TEST_F(LogReading, ARequestAfterARestartHasANumberThatNoEarlierOneHad) {
  test_.join("a", 1, 1);
  test_.submit({});
  test_.obey("a", 1, 1);
  ask({.id = 1, .wait = seconds(30)});
  ASSERT_EQ(test_.orders[1].logs.size(), 1U);
  const std::int64_t before = test_.orders[1].logs.back().request;

  ASSERT_TRUE(test_.core.begin(1, test_.now).ok());
  test_.join("a", 1, 2);
  LogReaders restarted;
  restarted.ask(test_.core, test_.now, {.id = 1, .wait = seconds(30)}, [](const auto& answer) {
    FAIL() << "the node was not asked: " << answer.error().message;
  });
  test_.pass();
  ASSERT_EQ(test_.orders[2].logs.size(), 1U);
  EXPECT_GT(test_.orders[2].logs.back().request, before);
}

TEST_F(LogReading, AJobThatNeverStartedEndsItsFollowers) {
  test_.submit({});
  ask({.id = 1, .wait = seconds(30)});
  ASSERT_TRUE(test_.core.cancel(kRoot, {.ids = {1}}, test_.now).ok());
  pass();
  ASSERT_EQ(answers_.size(), 1U);
  EXPECT_TRUE(last().ended);
}

TEST_F(LogReading, WithoutWaitingAPendingJobHasNoOutput) {
  test_.submit({});
  ask({.id = 1});
  ASSERT_EQ(answers_.size(), 1U);
  EXPECT_EQ(answers_[0].error().code, Code::FailedPrecondition);
}

// The agent says that the process has ended; the job has not: it is tried again.
TEST_F(LogReading, AJobThatIsTriedAgainIsFollowedOn) {
  test_.join("a", 1, 1);
  test_.submit({.retries = 1});
  test_.report("a", 1, 1, {ended({.job = 1, .epoch = 1}, JobEnd::Kind::Exited, 3)});
  pass();
  ask({.id = 1, .wait = seconds(1)});
  hear(1, {.bytes = "failed\n", .ended = true});
  EXPECT_EQ(last().bytes, "failed\n");
  EXPECT_FALSE(last().ended) << "the second try is still to come";
  test_.report("a", 1, 1, {ended({.job = 1, .epoch = 2})});
  pass();
  ask({.id = 1, .offset = last().next, .wait = seconds(1), .node = last().node});
  hear(1, {.bytes = "done\n", .offset = 7, .ended = true});
  EXPECT_TRUE(last().ended);
}

TEST_F(LogReading, AJobThatMovesIsReadToItsEndOnTheOldNodeFirst) {
  test_.join("a", 1, 1);
  test_.submit({});
  test_.obey("a", 1, 1);
  ask({.id = 1});
  hear(1, {.bytes = "one\n"});
  EXPECT_EQ(last().node, "a");
  test_.join("b", 1, 2);
  ASSERT_TRUE(test_.core.drain(kRoot, {.node = "a", .now = true}, test_.now).ok());
  pass();
  test_.report("a", 1, 1, {ended({.job = 1, .epoch = 1}, JobEnd::Kind::Stopped)});
  pass();
  ask({.id = 1, .offset = 4, .wait = seconds(1), .node = "a"});
  hear(1, {.bytes = "two\n", .offset = 4, .ended = true});
  EXPECT_EQ(last().bytes, "two\n");
  EXPECT_EQ(last().node, "b");
  EXPECT_EQ(last().next, 0);
  ask({.id = 1, .wait = seconds(1), .node = "b"});
  hear(2, {.bytes = "three\n"});
  EXPECT_EQ(last().bytes, "three\n");
}

TEST_F(LogReading, ANodeThatDoesNotAnswerIsNotWaitedForForEver) {
  test_.join("a", 1, 1);
  test_.submit({});
  ask({.id = 1});
  EXPECT_EQ(test_.orders[1].logs.size(), 1U);
  pass(seconds(10));
  ASSERT_EQ(answers_.size(), 1U);
  EXPECT_EQ(answers_[0].error().code, Code::Unavailable);
}

TEST_F(LogReading, StandardErrorIsAskedForWhereTheJobKeepsItApart) {
  test_.join("a", 2, 1);
  JobRequest job;
  job.errors = "/out/%j.err";
  job.user = "ann";
  test_.submit(job);
  ask({.id = 1, .errors = true});
  ASSERT_EQ(test_.orders[1].logs.size(), 1U);
  EXPECT_EQ(test_.orders[1].logs[0].path, "/out/1.err");
  EXPECT_EQ(test_.orders[1].logs[0].user, "ann");
  test_.submit({});
  ask({.id = 2, .errors = true});
  EXPECT_EQ(answers_.back().error().code, Code::FailedPrecondition);
}

}  // namespace
}  // namespace orrery
