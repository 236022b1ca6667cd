#include "scheduling/scheduler/scheduler.h"

#include <gtest/gtest.h>

#include <deque>
#include <functional>

#include "scheduling/policy/registry.h"
#include "scheduling/scheduler/fake_executor.h"

namespace orrery {
namespace {

using std::chrono::seconds;

class Recorder final : public EventSink {
 public:
  void write(const Event& event) override {
    events.push_back(event);
    if (event.grant != nullptr) events.back().grant = &grants_.emplace_back(*event.grant);
  }
  std::vector<EventKind> kinds_of(JobId job) const {
    std::vector<EventKind> kinds;
    for (const Event& event : events) {
      if (event.job == job) kinds.push_back(event.kind);
    }
    return kinds;
  }

  std::deque<Event> events;

 private:
  std::deque<Grant> grants_;
};

// Says what a test sets.
class Dictated final : public Policy {
 public:
  std::function<void(const View&, Packer&, Plan&)> say = [](const View&, Packer&, Plan&) {};
  void plan(const View& view, Packer& packer, Plan& plan) override { say(view, packer, plan); }
};

Cluster one_node() {
  Cluster cluster;
  cluster.nodes.emplace_back().gpus = 4;
  return cluster;
}

class SchedulerTest : public testing::Test {
 protected:
  JobSpec& submit(int gpus, Time now = {}) {
    JobSpec& spec = specs.emplace_back();
    spec.id = static_cast<JobId>(specs.size() - 1);
    spec.gpus = gpus;
    spec.iterations = 10;
    spec.iteration_s = 1;
    scheduler.submit(spec, now);
    return spec;
  }
  static void grant(Plan& plan, int job, std::uint64_t gpus) {
    plan.grant(static_cast<JobId>(job)).devices = {{NodeId{0}, gpus}};
  }

  Workload workload;
  std::deque<JobSpec> specs;
  Cluster cluster = one_node();
  Dictated policy;
  Packer packer{cluster, {}, make_consolidated(0)};
  FakeExecutor executor;
  Recorder log;
  Scheduler scheduler{{workload, cluster, policy, packer, executor, log}};

  void SetUp() override { executor.report_to(scheduler); }
};

TEST_F(SchedulerTest, NumbersItsEventsWithoutGaps) {
  submit(1);
  submit(9);
  policy.say = [](const View&, Packer&, Plan& plan) { grant(plan, 0, 1); };
  scheduler.hold_round(Time(seconds(1)));
  scheduler.ended(JobId{0}, EventKind::Completed, 0, Time(seconds(2)));
  for (std::size_t i = 0; i < log.events.size(); ++i) EXPECT_EQ(log.events[i].sequence, i);
  EXPECT_EQ(scheduler.events(), log.events.size());
  EXPECT_EQ(log.events.back().time, Time(seconds(2)));
}

TEST_F(SchedulerTest, RefusesWhatCanNeverRunAndGoesOn) {
  submit(9);
  submit(2);
  std::vector<JobId> asked;
  policy.say = [&](const View& view, Packer&, Plan& plan) {
    asked.assign(view.arrived.begin(), view.arrived.end());
    grant(plan, 1, 0b11);
  };
  scheduler.hold_round({});
  EXPECT_EQ(asked, std::vector{JobId{1}}) << "the policy never hears of the refused one";
  EXPECT_EQ(log.kinds_of(JobId{0}), (std::vector{EventKind::Submitted, EventKind::Rejected}));
  EXPECT_EQ(log.events[2].reason,
            (Reason{.code = Reason::Code::TooLarge, .wanted = 9, .available = 4}));
  EXPECT_EQ(log.kinds_of(JobId{1}), (std::vector{EventKind::Submitted, EventKind::Started}));
  EXPECT_EQ(scheduler.state().waiting(), 0);
}

TEST_F(SchedulerTest, StopsBeforeItStarts) {
  submit(4);
  submit(4);
  policy.say = [](const View&, Packer&, Plan& plan) { grant(plan, 0, 0xf); };
  scheduler.hold_round({});
  policy.say = [](const View&, Packer&, Plan& plan) {
    grant(plan, 1, 0xf);
    plan.stop(JobId{0}, {.code = Reason::Code::Outranked, .other = JobId{1}});
  };
  scheduler.hold_round(Time(seconds(5)));
  EXPECT_EQ(executor.kinds,
            (std::vector{Action::Kind::Start, Action::Kind::Pause, Action::Kind::Start}));
  EXPECT_EQ(executor.jobs, (std::vector{JobId{0}, JobId{0}, JobId{1}}));
  EXPECT_EQ(log.events[3].reason.other, JobId{1});
}

TEST_F(SchedulerTest, NamesEachChangeByItsCost) {
  submit(2);
  const auto round = [&](std::uint64_t gpus, GroupId group) {
    policy.say = [=](const View&, Packer&, Plan& plan) {
      grant(plan, 0, gpus);
      plan.grants()[0].group = group;
    };
    scheduler.hold_round({});
  };
  round(0b0011, kNoGroup);
  round(0b0011, kNoGroup);  // nothing changes, nothing is done
  round(0b0110, kNoGroup);
  round(0b1110, kNoGroup);
  round(0b1110, GroupId{3});
  policy.say = [](const View&, Packer&, Plan& plan) { plan.stop(JobId{0}, {}); };
  scheduler.hold_round({});
  round(0b0011, kNoGroup);
  using Kind = Action::Kind;
  EXPECT_EQ(executor.kinds, (std::vector{Kind::Start, Kind::Move, Kind::Resize, Kind::Regroup,
                                         Kind::Pause, Kind::Resume}));
}

TEST_F(SchedulerTest, TheLedgerFollowsEventsAndNotWhatAPolicyTried) {
  submit(2);
  policy.say = [](const View&, Packer& tried, Plan& plan) {
    tried.current().take(Devices{{NodeId{0}, 0b1100}}, {});
    grant(plan, 0, 0b0011);
  };
  scheduler.hold_round({});
  EXPECT_EQ(packer.current().free_mask(0), 0b1100u);
  policy.say = [](const View&, Packer&, Plan& plan) { grant(plan, 0, 0b1001); };
  scheduler.hold_round({});
  EXPECT_EQ(packer.current().free_mask(0), 0b0110u);
  scheduler.ended(JobId{0}, EventKind::Failed, 3, {});
  EXPECT_EQ(packer.current().free_mask(0), 0b1111u);
}

TEST_F(SchedulerTest, AJobThatWaitsIsQueuedWithTheReason) {
  submit(4);
  policy.say = [](const View&, Packer&, Plan& plan) {
    plan.wait(JobId{0}, {.code = Reason::Code::GpusBusy, .wanted = 4});
  };
  scheduler.hold_round({});
  EXPECT_EQ(log.events.back().kind, EventKind::Queued);
  EXPECT_EQ(log.events.back().reason.code, Reason::Code::GpusBusy);
}

TEST_F(SchedulerTest, AnswersWhenThePolicyWantsToBeAskedAgain) {
  policy.say = [](const View&, Packer&, Plan& plan) {
    plan.wake(Time(seconds(9)));
    plan.wake(Time(seconds(7)));
  };
  EXPECT_EQ(scheduler.hold_round({}), Time(seconds(7)));
  policy.say = [](const View&, Packer&, Plan&) {};
  EXPECT_EQ(scheduler.hold_round({}), kNever);
}

TEST_F(SchedulerTest, AWaitingJobCanBeCancelled) {
  submit(4);
  scheduler.hold_round({});
  scheduler.ended(JobId{0}, EventKind::Cancelled, 10, Time(seconds(1)));
  EXPECT_EQ(scheduler.state().job(JobId{0}).state, JobState::Cancelled);
  EXPECT_EQ(log.events.back().reason.code, Reason::Code::Cancelled);
  std::vector<JobId> ended;
  policy.say = [&](const View& view, Packer&, Plan&) {
    ended.assign(view.ended.begin(), view.ended.end());
  };
  scheduler.hold_round(Time(seconds(1)));
  EXPECT_EQ(ended, std::vector{JobId{0}});
}

TEST_F(SchedulerTest, ARunningJobCanBeCancelled) {
  submit(4);
  policy.say = [](const View&, Packer&, Plan& plan) { grant(plan, 0, 0xf); };
  scheduler.hold_round({});
  policy.say = [](const View&, Packer&, Plan&) {};
  scheduler.ended(JobId{0}, EventKind::Cancelled, 4, Time(seconds(6)));
  EXPECT_EQ(packer.current().gpus_free(), 4);
  EXPECT_EQ(scheduler.state().job(JobId{0}).attained, seconds(6));
  EXPECT_TRUE(scheduler.state().running().empty());
}

TEST_F(SchedulerTest, AJobCancelledBeforeTheNextRoundIsNeverShown) {
  submit(9);  // would be refused
  submit(1);
  scheduler.ended(JobId{0}, EventKind::Cancelled, 10, {});
  scheduler.ended(JobId{1}, EventKind::Cancelled, 10, {});
  std::size_t heard = 0;
  policy.say = [&](const View& view, Packer&, Plan&) {
    heard = view.arrived.size() + view.ended.size();
  };
  scheduler.hold_round({});
  EXPECT_EQ(heard, 0u);
  EXPECT_EQ(scheduler.state().waiting(), 0);
}

// Every policy must cope with owners who change their minds.
TEST_F(SchedulerTest, ForgetsManyJobsOnceThePolicyHasSeenTheirEnds) {
  Scheduler forgetful{{.workload = workload,
                       .cluster = cluster,
                       .policy = policy,
                       .packer = packer,
                       .executor = executor,
                       .sink = log,
                       .forgets_ended = true}};
  executor.report_to(forgetful);
  constexpr int kJobs = 3000;
  for (int job = 0; job < kJobs; ++job) {
    submit(1);
    forgetful.submit(specs.back(), {});
  }
  policy.say = [](const View&, Packer&, Plan& plan) { grant(plan, 0, 0b1); };
  forgetful.hold_round({});
  forgetful.ended(JobId{0}, EventKind::Completed, 0, Time(seconds(10)));
  for (int job = 1; job + 1 < kJobs; ++job) {
    forgetful.ended(static_cast<JobId>(job), EventKind::Cancelled, 0, Time(seconds(10)));
  }
  policy.say = [](const View& view, Packer&, Plan&) {
    for (const JobId job : view.ended) EXPECT_EQ(view.spec(job).gpus, 1);
  };
  forgetful.hold_round(Time(seconds(10)));
  EXPECT_EQ(forgetful.state().job(JobId{0}).spec, nullptr);
  EXPECT_EQ(forgetful.state().job(JobId{0}).state, JobState::Done);
  EXPECT_EQ(forgetful.state().job(JobId{1}).state, JobState::Cancelled);
  EXPECT_EQ(forgetful.state().job(JobId{kJobs - 1}).spec, &specs.back());
}

TEST(Cancel, LeavesTheOthersToRunUnderEveryPolicy) {
  for (const PolicyInfo& info : policies()) {
    SCOPED_TRACE(info.name);
    Workload workload;
    workload.profiles = {{.stage_s = {1, 1, 1}, .slots = {2, 1, 1}}};
    for (int i = 0; i < 4; ++i) {
      JobSpec& spec = workload.jobs.emplace_back();
      spec.id = static_cast<JobId>(i);
      spec.gpus = 4;
      spec.iterations = 10;
      spec.iteration_s = 1;
      spec.profile = ProfileId{0};
    }
    const Cluster cluster = one_node();
    PolicySetup setup =
        std::move(make_policy({.workload = workload, .policy = {.name = std::string(info.name)}}))
            .value();
    Packer packer(cluster, {}, std::move(setup.rule));
    FakeExecutor executor;
    executor.left = 10;
    Recorder log;
    Scheduler scheduler({workload, cluster, *setup.policy, packer, executor, log});
    executor.report_to(scheduler);
    for (const JobSpec& spec : workload.jobs) scheduler.submit(spec, {});
    scheduler.ended(JobId{3}, EventKind::Cancelled, 10, {});
    scheduler.hold_round({});
    for (int i = 1; i <= 3; ++i) {
      const Time now = Time(std::chrono::hours(i));
      ASSERT_FALSE(scheduler.state().running().empty()) << "round " << i;
      const JobId running = scheduler.state().running().front();
      for (const Job& job : scheduler.state().jobs()) {
        const bool waits = !is_final(job.state) && job.state != JobState::Running;
        if (!waits || i > 1) continue;
        scheduler.ended(job.spec->id, EventKind::Cancelled, 10, now);
        break;
      }
      scheduler.ended(running, EventKind::Cancelled, 5, now);
      scheduler.hold_round(now);
      if (scheduler.state().waiting() == 0 && scheduler.state().running().empty()) break;
    }
    for (const Job& job : scheduler.state().jobs()) EXPECT_EQ(job.state, JobState::Cancelled);
    EXPECT_EQ(packer.current().gpus_free(), 4);
  }
}

}  // namespace
}  // namespace orrery
