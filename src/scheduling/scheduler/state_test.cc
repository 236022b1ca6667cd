#include "scheduling/scheduler/state.h"

#include <gtest/gtest.h>

namespace orrery {
namespace {

using std::chrono::seconds;

class StateTest : public testing::Test {
 protected:
  void submit(int job) {
    specs_[job].iterations = 100;
    state.apply(
        {.kind = EventKind::Submitted, .job = static_cast<JobId>(job), .spec = &specs_[job]});
  }
  void hold(EventKind kind, int job, int at_s, std::uint64_t gpus, double left = 100) {
    Grant grant;
    grant.job = static_cast<JobId>(job);
    grant.devices = {{NodeId{0}, gpus}};
    grant.group = GroupId{2};
    state.apply({.time = Time(seconds(at_s)),
                 .kind = kind,
                 .job = grant.job,
                 .grant = &grant,
                 .ready = Time(seconds(at_s + 5)),
                 .work_left = left});
  }
  void happens(EventKind kind, int job, int at_s, double left = 0) {
    state.apply({.time = Time(seconds(at_s)),
                 .kind = kind,
                 .job = static_cast<JobId>(job),
                 .work_left = left});
  }
  const Job& job(int id) const { return state.job(static_cast<JobId>(id)); }

  State state;

 private:
  JobSpec specs_[4];
};

TEST_F(StateTest, ASubmittedJobWaitsWithAllItsWork) {
  submit(0);
  EXPECT_EQ(job(0).state, JobState::Pending);
  EXPECT_EQ(job(0).work_left, 100);
  EXPECT_EQ(state.waiting(), 1);
}

TEST_F(StateTest, QueueingChangesNothing) {
  submit(0);
  happens(EventKind::Queued, 0, 1);
  EXPECT_EQ(job(0).state, JobState::Pending);
  EXPECT_EQ(job(0).work_left, 100);
}

TEST_F(StateTest, ARunIsOneFromStartToPauseHoweverOftenItMoves) {
  submit(0);
  hold(EventKind::Started, 0, 10, 0b01);
  hold(EventKind::Moved, 0, 20, 0b10, 90);
  hold(EventKind::Regrouped, 0, 25, 0b10, 85);
  EXPECT_EQ(job(0).run_since, Time(seconds(10)));
  EXPECT_EQ(job(0).ready, Time(seconds(30)));
  EXPECT_EQ(job(0).held.devices[0].gpus, 0b10u);
  EXPECT_EQ(job(0).attained_at(Time(seconds(40))), seconds(30));
  happens(EventKind::Paused, 0, 50, 60);
  EXPECT_EQ(job(0).state, JobState::Paused);
  EXPECT_EQ(job(0).attained, seconds(40));
  EXPECT_EQ(job(0).attained_at(Time(seconds(99))), seconds(40));
  EXPECT_TRUE(job(0).held.devices.empty());
  EXPECT_EQ(job(0).held.group, kNoGroup);
  EXPECT_EQ(job(0).work_left, 60);
  hold(EventKind::Resumed, 0, 100, 0b01, 60);
  happens(EventKind::Completed, 0, 130);
  EXPECT_EQ(job(0).attained, seconds(70));
}

TEST_F(StateTest, EveryEndIsItsOwnState) {
  for (int i = 0; i < 4; ++i) submit(i);
  hold(EventKind::Started, 0, 1, 1);
  hold(EventKind::Started, 1, 1, 2);
  EXPECT_EQ(state.waiting(), 2);
  happens(EventKind::Completed, 0, 2);
  happens(EventKind::Failed, 1, 2, 5);
  happens(EventKind::Rejected, 2, 2, 100);
  happens(EventKind::Cancelled, 3, 2, 100);
  EXPECT_EQ(job(0).state, JobState::Done);
  EXPECT_EQ(job(1).state, JobState::Failed);
  EXPECT_EQ(job(2).state, JobState::Rejected);
  EXPECT_EQ(job(3).state, JobState::Cancelled);
  EXPECT_EQ(state.waiting(), 0);
  EXPECT_TRUE(state.running().empty());
}

TEST_F(StateTest, KnowsTheRunningJobsWhenTheMiddleOneLeaves) {
  for (int i = 0; i < 3; ++i) {
    submit(i);
    hold(EventKind::Started, i, i, 1ULL << i);
  }
  happens(EventKind::Paused, 0, 9, 1);
  happens(EventKind::Paused, 2, 9, 1);
  ASSERT_EQ(state.running().size(), 1u);
  EXPECT_EQ(state.running()[0], JobId{1});
  EXPECT_EQ(state.waiting(), 2);
}

using StateDeath = StateTest;
TEST_F(StateDeath, NothingHappensAfterAnEnd) {
  submit(0);
  happens(EventKind::Cancelled, 0, 1);
  EXPECT_DEATH(happens(EventKind::Failed, 0, 2), "after its end");
}

TEST_F(StateTest, AJobThatIsForgottenKeepsItsFinalStateAndGivesItsMemoryToTheNext) {
  submit(0);
  submit(1);
  hold(EventKind::Started, 0, 10, 0b01);
  happens(EventKind::Completed, 0, 20);
  happens(EventKind::Rejected, 1, 20);
  const Job* const before = &job(0);
  state.forget(JobId{0});
  state.forget(JobId{1});
  EXPECT_EQ(job(0).state, JobState::Done);
  EXPECT_EQ(job(1).state, JobState::Rejected);
  EXPECT_EQ(job(0).spec, nullptr);
  submit(2);
  submit(3);
  EXPECT_EQ(&job(3), before);
  EXPECT_EQ(job(3).state, JobState::Pending);
  EXPECT_EQ(job(3).attained, Duration());
  EXPECT_EQ(job(0).state, JobState::Done);
  EXPECT_EQ(state.jobs().size(), 4u);
}

}  // namespace
}  // namespace orrery
