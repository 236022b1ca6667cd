#include <gtest/gtest.h>

#include "live/daemon/core/core.h"

namespace orrery {
namespace {

using std::chrono::seconds;

// One node with two GPUs, its agent played by the test, and a job with a process on each.
class AskedToStop : public testing::Test {
 protected:
  void SetUp() override {
    ASSERT_TRUE(core_.begin(1'000'000'000, now_).ok());
    report({});
    JobRequest job{.argv = {"train"}, .gpus = 2};
    job.process_per_gpu = true;
    job.retries = 1;
    ASSERT_TRUE(core_.submit(root_, {.job = std::move(job)}, now_).ok());
    ASSERT_EQ(pass({}).assignments.size(), 2U);
  }

  static LaunchReport running(int rank, double iteration = -1, double can_stop_at = -1) {
    return {.name = {.job = 1, .epoch = 1, .rank = rank},
            .state = LaunchState::Running,
            .iteration = iteration,
            .iterations = 100,
            .can_stop_at = can_stop_at};
  }
  static LaunchReport ended(int rank, const JobEnd& end, double checkpointed = -1,
                            bool finished = false) {
    return {.name = {.job = 1, .epoch = 1, .rank = rank},
            .state = LaunchState::Ended,
            .end = end,
            .iteration = checkpointed,
            .iterations = 100,
            .checkpointed = checkpointed,
            .finished = finished};
  }

  Orders orders() {
    core_.tick(now_);
    core_.take_records();
    for (Core::Outgoing& outgoing : core_.take_orders()) last_ = std::move(outgoing.orders);
    return last_;
  }
  Orders report(std::vector<LaunchReport> launches) {
    core_.reported(1,
                   {.offer = {.name = "n",
                              .address = "n",
                              .gpus = 2,
                              .cpu_milli = 8000,
                              .memory_bytes = std::int64_t{1} << 33},
                    .instance = "i",
                    .session = last_.session,
                    .number = ++number_,
                    .term = last_.term,
                    .orders = last_.number,
                    .launches = std::move(launches)},
                   now_);
    return orders();
  }
  // The agent reports all the while, so that its lease goes on.
  Orders pass(Duration time, const std::vector<LaunchReport>& launches = {}) {
    for (const Time until = now_ + time; now_ < until;) {
      now_ = std::min(until, now_ + seconds(5));
      report(launches);
    }
    return orders();
  }
  Orders drain() {
    EXPECT_TRUE(core_.drain(root_, {.node = "n", .now = true}, now_).ok());
    return orders();
  }
  JobState job_state() const { return core_.state().job(JobId{0}).state; }

  const JobEnd well_{.kind = JobEnd::Kind::Exited, .exit_code = 0};
  const Caller root_{.role = Caller::Role::Admin, .name = "root"};
  Time now_{};
  Core core_{CoreOptions{}};
  Orders last_{};
  std::int64_t number_ = 0;
};

TEST_F(AskedToStop, AllRanksAgreeLeaveAndGoOnLater) {
  report({running(0, 5), running(1, 5)});
  const Orders asked = drain();
  EXPECT_EQ(job_state(), JobState::Paused);
  ASSERT_EQ(asked.assignments.size(), 2U) << "they are not ended";
  ASSERT_EQ(asked.stops.size(), 2U);
  EXPECT_EQ(asked.stops[0].at, -1);
  EXPECT_EQ(asked.stops[0].reason, "drain");

  EXPECT_EQ(report({running(0, 6, 7), running(1, 6)}).stops[0].at, -1) << "one has not answered";
  const Orders agreed = report({running(0, 7, 7), running(1, 6, 9)});
  ASSERT_EQ(agreed.stops.size(), 2U);
  EXPECT_EQ(agreed.stops[0].at, 9);
  EXPECT_EQ(agreed.stops[1].at, 9);
  EXPECT_EQ(agreed.assignments.size(), 2U);

  const Orders after = report({ended(0, well_, 9), ended(1, well_, 9)});
  EXPECT_TRUE(after.assignments.empty());
  EXPECT_TRUE(after.stops.empty());
  EXPECT_EQ(job_state(), JobState::Paused) << "it exited well and is not done";
  EXPECT_EQ(core_.book().job(JobId{0}).checkpointed, 9);

  ASSERT_TRUE(core_.drain(root_, {.node = "n", .resume = true}, now_).ok());
  const Orders again = orders();
  ASSERT_EQ(again.assignments.size(), 2U);
  EXPECT_EQ(again.assignments[0].name.epoch, 2);
  EXPECT_TRUE(again.assignments[0].resumes);
}

TEST_F(AskedToStop, AResizeSaysWhatTheWholeJobWillHave) {
  ASSERT_TRUE(core_.set_policy(root_, {.policy = "optimus"}, now_).ok());
  ASSERT_TRUE(core_.cancel(root_, {.ids = {1}}, now_).ok());
  report({ended(0, well_), ended(1, well_)});
  JobRequest elastic{.argv = {"train"}, .gpus = 2, .gpus_min = 1, .gpus_max = 2};
  elastic.process_per_gpu = true;
  elastic.expected = std::chrono::hours(1);
  ASSERT_TRUE(core_.submit(root_, {.job = elastic}, now_).ok());
  ASSERT_EQ(report({}).assignments.size(), 2U);
  std::vector<LaunchReport> both = {running(0, 5), running(1, 5)};
  for (LaunchReport& report : both) report.name.job = 2;
  report(both);
  ASSERT_TRUE(core_.submit(root_, {.job = elastic}, now_).ok());
  Orders asked = report(both);
  for (int i = 0; i < 120 && asked.stops.empty(); ++i) asked = pass(seconds(5), both);
  ASSERT_EQ(asked.stops.size(), 2U);
  EXPECT_EQ(asked.stops[0].reason, "resize");
  EXPECT_EQ(asked.stops[0].gpus_next, 1);
  EXPECT_EQ(asked.stops[0].ranks_next, 1);
}

TEST_F(AskedToStop, OneThatFinishesInsteadIsDone) {
  report({running(0, 5), running(1, 5)});
  drain();
  report({running(0, 99, 100), running(1, 99, 100)});
  report({ended(0, well_, 100, true), ended(1, well_, 100, true)});
  EXPECT_EQ(job_state(), JobState::Done);
}

TEST_F(AskedToStop, OneThatFinishesBeforeTheAgreementIsDone) {
  report({running(0, 99), running(1, 99)});
  drain();
  report({ended(0, well_, 100, true), ended(1, well_, 100, true)});
  EXPECT_EQ(job_state(), JobState::Done);
}

TEST_F(AskedToStop, OneThatAnEarlierSchedulerAskedToStopIsNotDone) {
  report({running(0, 5), running(1, 5)});
  drain();
  report({running(0, 7, 7), running(1, 7, 7)});
  ASSERT_TRUE(core_.begin(0, now_).ok());
  report({ended(0, well_), ended(1, well_)});
  EXPECT_EQ(job_state(), JobState::Paused);
}

TEST_F(AskedToStop, OneThatWasNotAskedIsDoneWhenItExitsWell) {
  report({running(0, 99), running(1, 99)});
  report({ended(0, well_, 99), ended(1, well_, 99)});
  EXPECT_EQ(job_state(), JobState::Done);
}

TEST_F(AskedToStop, WithoutAllAnswersInTimeTheyAreEnded) {
  const std::vector<LaunchReport> launches = {running(0, 5, 7), running(1, 5)};
  report({running(0, 5), running(1, 5)});
  drain();
  EXPECT_EQ(pass(seconds(9), launches).assignments.size(), 2U);
  EXPECT_LE(core_.next_due(), now_ + seconds(1));
  const Orders late = pass(seconds(1));
  EXPECT_TRUE(late.assignments.empty());
  EXPECT_TRUE(late.stops.empty());
}

TEST_F(AskedToStop, OneThatStaysBeyondTheAgreementIsEnded) {
  const std::vector<LaunchReport> launches = {running(0, 7, 7), running(1, 7, 7)};
  report({running(0, 5), running(1, 5)});
  drain();
  report(launches);
  EXPECT_EQ(pass(seconds(59), launches).assignments.size(), 2U);
  EXPECT_TRUE(pass(seconds(1), launches).assignments.empty());
}

TEST_F(AskedToStop, ARankThatCannotAnswerEndsItAtOnce) {
  report({running(0, 5), running(1, 5)});
  drain();
  EXPECT_TRUE(report({running(0, 5, 7), running(1, -1, kCannotStop)}).assignments.empty());
}

TEST_F(AskedToStop, AJobThatSaysNothingIsEndedAtOnce) {
  report({running(0), running(1)});
  const Orders orders = drain();
  EXPECT_TRUE(orders.assignments.empty());
  EXPECT_TRUE(orders.stops.empty());
}

TEST_F(AskedToStop, OneThatIsCancelledMeanwhileIsEndedAtOnce) {
  report({running(0, 5), running(1, 5)});
  EXPECT_EQ(drain().assignments.size(), 2U);
  ASSERT_TRUE(core_.cancel(root_, {.ids = {1}}, now_).ok());
  EXPECT_TRUE(orders().assignments.empty());
}

TEST_F(AskedToStop, ASchedulerThatStartsAgainEndsThoseThatWereAsked) {
  report({running(0, 5), running(1, 5)});
  drain();
  ASSERT_TRUE(core_.begin(0, now_).ok());
  const Orders orders = report({running(0, 5, 7), running(1, 5, 7)});
  EXPECT_TRUE(orders.assignments.empty());
}

TEST_F(AskedToStop, AJobThatFailsGoesBackToItsCheckpoint) {
  const double all = core_.host().work_left(JobId{0});
  LaunchReport first = running(0, 60);
  first.checkpointed = 40;
  report({first, running(1, 60)});
  EXPECT_DOUBLE_EQ(core_.host().work_left(JobId{0}), all * 0.4);
  const JobEnd badly{.kind = JobEnd::Kind::Exited, .exit_code = 1};
  report({first, ended(1, badly)});
  EXPECT_DOUBLE_EQ(core_.host().work_left(JobId{0}), all * 0.6);
}

}  // namespace
}  // namespace orrery
