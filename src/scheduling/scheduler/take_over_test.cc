#include <gtest/gtest.h>

#include <deque>
#include <functional>

#include "scheduling/scheduler/fake_executor.h"
#include "scheduling/scheduler/scheduler.h"

namespace orrery {
namespace {

using std::chrono::seconds;

class Kept final : public EventSink {
 public:
  void write(const Event& event) override {
    events.push_back(event);
    if (event.grant != nullptr) events.back().grant = &grants_.emplace_back(*event.grant);
  }
  std::deque<Event> events;

 private:
  std::deque<Grant> grants_;
};

// Says what a test sets, and remembers what it was shown.
class Dictated final : public Policy {
 public:
  std::function<void(const View&, Plan&)> say = [](const View&, Plan&) {};
  std::vector<JobId> arrived;
  std::vector<JobId> ended;
  std::vector<JobId> running;
  int gpus = 0;
  int plans = 0;

  void plan(const View& view, Packer& packer, Plan& plan) override {
    arrived.assign(view.arrived.begin(), view.arrived.end());
    ended.assign(view.ended.begin(), view.ended.end());
    running.assign(view.running.begin(), view.running.end());
    gpus = packer.current().gpus_total();
    ++plans;
    say(view, plan);
  }
};

Cluster two_nodes() {
  Cluster cluster;
  cluster.nodes.resize(2);
  for (Node& node : cluster.nodes) node.gpus = 4;
  return cluster;
}

class TakeOver : public testing::Test {
 protected:
  explicit TakeOver(bool infeasible_waits = false)
      : scheduler{{.workload = workload,
                   .cluster = cluster,
                   .policy = first,
                   .packer = packer,
                   .executor = executor,
                   .sink = log,
                   .progress = nullptr,
                   .infeasible_waits = infeasible_waits}} {
    executor.report_to(scheduler);
  }
  JobId submit(int gpus) {
    JobSpec& spec = workload.jobs.emplace_back();
    spec.id = static_cast<JobId>(workload.jobs.size() - 1);
    spec.gpus = gpus;
    spec.iterations = 10;
    spec.iteration_s = 1;
    scheduler.submit(spec, {});
    return spec.id;
  }
  void hold(JobId job, const Devices& devices, Sharing sharing = Sharing::Exclusive) {
    first.say = [=](const View& view, Plan& plan) {
      Grant& grant = plan.grant(job);
      grant.devices = devices;
      grant.sharing = sharing;
      grant.iterations_per_s = 1 / view.spec(job).iteration_s;
    };
    scheduler.hold_round({});
    first.say = [](const View&, Plan&) {};
  }
  void take_over() { scheduler.take_over(second, fresh, cluster); }
  void take_over_with(const std::vector<bool>& open) {
    for (std::size_t i = 0; i < open.size(); ++i) cluster.nodes[i].open = open[i];
    packers.emplace_back(cluster, std::span<const std::string>{}, make_consolidated(0));
    scheduler.take_over(second, packers.back(), cluster);
  }
  JobState state(JobId job) const { return scheduler.state().job(job).state; }

  Workload workload;
  Cluster cluster = two_nodes();
  Dictated first;
  Dictated second;
  Packer packer{cluster, {}, make_consolidated(0)};
  Packer fresh{cluster, {}, make_consolidated(0)};
  std::deque<Packer> packers;
  FakeExecutor executor;
  Kept log;
  Scheduler scheduler;
};

TEST_F(TakeOver, AllJobsArriveAsTheyAre) {
  const JobId runs = submit(2);
  const JobId waits = submit(4);
  const JobId done = submit(1);
  hold(runs, {{NodeId{0}, 0b11}});
  scheduler.ended(done, EventKind::Cancelled, 1, {});
  take_over();
  scheduler.hold_round(Time(seconds(5)));
  EXPECT_EQ(second.arrived, (std::vector{runs, waits}));
  EXPECT_TRUE(second.ended.empty());
  EXPECT_EQ(state(runs), JobState::Running);
  EXPECT_EQ(executor.kinds.size(), 1u) << "no job was touched";
  EXPECT_EQ(fresh.current().free_mask(0), 0b1100u);
  scheduler.ended(runs, EventKind::Completed, 0, Time(seconds(9)));
  EXPECT_EQ(fresh.current().gpus_free(), 8);
}

TEST_F(TakeOver, AJobThatHoldsWhatThePolicyDoesNotKnowIsPaused) {
  const JobId wide = submit(2);
  hold(wide, {{NodeId{0}, 0b1111}});
  take_over();
  scheduler.hold_round(Time(seconds(5)));
  EXPECT_EQ(state(wide), JobState::Paused);
  EXPECT_EQ(log.events.back().reason.code, Reason::Code::PolicyChanged);
  EXPECT_EQ(second.arrived, std::vector{wide});
  EXPECT_EQ(fresh.current().gpus_free(), 8);
}

TEST_F(TakeOver, OneOfTwoOnTheSameDevicesCanStay) {
  const JobId owner = submit(2);
  const JobId opportunistic = submit(2);
  hold(owner, {{NodeId{0}, 0b11}}, Sharing::Guaranteed);
  hold(opportunistic, {{NodeId{0}, 0b11}}, Sharing::Opportunistic);
  take_over();
  scheduler.hold_round(Time(seconds(5)));
  EXPECT_EQ(state(opportunistic), JobState::Paused);
  EXPECT_EQ(state(owner), JobState::Running);
  EXPECT_EQ(scheduler.state().job(owner).held.sharing, Sharing::Exclusive);
}

TEST_F(TakeOver, AJobOnANodeThatClosesGoesOnOutOfSight) {
  const JobId drains = submit(4);
  const JobId spans = submit(2);
  const JobId other = submit(1);
  hold(drains, {{NodeId{0}, 0b0111}, {NodeId{1}, 0b0001}});
  hold(spans, {{NodeId{1}, 0b0110}});
  take_over_with({false, true});
  scheduler.hold_round(Time(seconds(1)));
  EXPECT_EQ(second.arrived, (std::vector{spans, other}));
  EXPECT_EQ(second.running, std::vector{spans});
  EXPECT_EQ(second.gpus, 3) << "what it holds on an open node is not there either";
  EXPECT_EQ(packers.back().current().free_mask(1), 0b1000u);
  packers.back().blank().clear();
  EXPECT_EQ(packers.back().blank().gpus_free(), 3);
  scheduler.ended(drains, EventKind::Completed, 0, Time(seconds(2)));
  scheduler.hold_round(Time(seconds(2)));
  EXPECT_TRUE(second.ended.empty()) << "it was never shown";
  take_over_with({true, true});
  scheduler.hold_round(Time(seconds(3)));
  EXPECT_EQ(second.gpus, 8);
}

TEST_F(TakeOver, AJobThatLosesItsClosedNodeComesIntoSight) {
  const JobId job = submit(2);
  hold(job, {{NodeId{0}, 0b11}});
  take_over_with({false, true});
  scheduler.hold_round(Time(seconds(1)));
  EXPECT_TRUE(second.arrived.empty());
  scheduler.paused(job, 5, {.code = Reason::Code::NodeLost});
  scheduler.hold_round(Time(seconds(2)));
  EXPECT_EQ(second.arrived, std::vector{job});
  EXPECT_TRUE(second.ended.empty());
}

TEST_F(TakeOver, AJobThatFitsOnlyClosedNodesWaitsForThem) {
  const JobId large = submit(6);
  take_over_with({true, false});
  scheduler.hold_round(Time(seconds(1)));
  EXPECT_TRUE(second.arrived.empty());
  EXPECT_EQ(log.events.back().kind, EventKind::Queued);
  EXPECT_EQ(log.events.back().reason,
            (Reason{.code = Reason::Code::NotHere, .wanted = 6, .available = 4}));
  take_over_with({true, true});
  scheduler.hold_round(Time(seconds(2)));
  EXPECT_EQ(second.arrived, std::vector{large});
}

TEST_F(TakeOver, NothingIsDecidedWhereNoNodeIsOpen) {
  const JobId job = submit(1);
  take_over_with({false, false});
  EXPECT_EQ(scheduler.hold_round(Time(seconds(1))), kNever);
  EXPECT_EQ(second.plans, 0);
  take_over_with({false, true});
  scheduler.hold_round(Time(seconds(2)));
  EXPECT_EQ(second.arrived, std::vector{job});
}

TEST_F(TakeOver, AReasonIsNotReportedTwice) {
  const JobId same = submit(1);
  const JobId other = submit(1);
  const auto waits_for = [=](Reason::Code code) {
    return [=](const View&, Plan& plan) {
      plan.wait(same, {.code = Reason::Code::GpusBusy});
      plan.wait(other, {.code = code});
    };
  };
  first.say = waits_for(Reason::Code::GpusBusy);
  scheduler.hold_round({});
  second.say = waits_for(Reason::Code::BehindOthers);
  take_over();
  const std::size_t before = log.events.size();
  scheduler.hold_round(Time(seconds(1)));
  ASSERT_EQ(log.events.size(), before + 1);
  EXPECT_EQ(log.events.back().job, other);
}

class NodesCome : public TakeOver {
 protected:
  NodesCome() : TakeOver(true) {}
};

TEST_F(NodesCome, AJobThatFitsNoNodeWaitsForOne) {
  const JobId large = submit(12);
  scheduler.hold_round({});
  EXPECT_EQ(state(large), JobState::Pending);
  EXPECT_EQ(log.events.back().reason.code, Reason::Code::NotHere);
  cluster.nodes.emplace_back().gpus = 8;
  take_over_with({true, true, true});
  scheduler.hold_round(Time(seconds(1)));
  EXPECT_EQ(second.arrived, std::vector{large});
}

TEST_F(TakeOver, AJobOnHoldIsOutOfSightUntilReleased) {
  const JobId known = submit(1);
  scheduler.hold_round({});
  const JobId fresh_one = submit(1);
  scheduler.hold(known, {.code = Reason::Code::Dependency, .other = fresh_one});
  scheduler.hold(fresh_one, {.code = Reason::Code::Quota, .wanted = 1});
  EXPECT_EQ(log.events.back().kind, EventKind::Queued);
  EXPECT_EQ(log.events.back().reason.code, Reason::Code::Quota);
  scheduler.hold_round(Time(seconds(1)));
  EXPECT_TRUE(first.arrived.empty());
  EXPECT_EQ(first.ended, std::vector{known}) << "the other it never heard of";
  take_over();
  scheduler.hold_round(Time(seconds(2)));
  EXPECT_TRUE(second.arrived.empty());
  scheduler.release(known);
  scheduler.release(known);
  scheduler.hold_round(Time(seconds(3)));
  EXPECT_EQ(second.arrived, std::vector{known});
  scheduler.ended(fresh_one, EventKind::Cancelled, 10, Time(seconds(4)));
  scheduler.release(fresh_one);
  scheduler.hold_round(Time(seconds(4)));
  EXPECT_TRUE(second.arrived.empty());
  EXPECT_TRUE(second.ended.empty());
}

TEST_F(TakeOver, AJobThatLosesItsDevicesUnaskedEndsAndArrives) {
  const JobId job = submit(1);
  hold(job, {{NodeId{0}, 1}});
  scheduler.paused(job, 7, {.code = Reason::Code::NodeLost});
  scheduler.hold_round(Time(seconds(1)));
  EXPECT_EQ(first.ended, std::vector{job});
  EXPECT_EQ(first.arrived, std::vector{job});
  EXPECT_EQ(scheduler.state().job(job).work_left, 7);
}

TEST_F(TakeOver, AFailureHasAReason) {
  const JobId job = submit(1);
  const Reason lost{.code = Reason::Code::NodeLost, .wanted = 3};
  scheduler.ended(job, EventKind::Failed, 7, Time(seconds(1)), Time(seconds(1)), lost);
  EXPECT_EQ(log.events.back().reason, lost);
}

TEST_F(TakeOver, ALogMakesTheSameScheduler) {
  const JobId runs = submit(2);
  const JobId waits = submit(4);
  hold(runs, {{NodeId{1}, 0b11}});
  Event admitted{.kind = EventKind::Admitted, .job = waits, .promised = Time(seconds(50))};
  admitted.sequence = scheduler.events();
  Scheduler other{{workload, cluster, second, fresh, executor, log}};
  for (const Event& event : std::deque<Event>(log.events)) other.recover(event);
  other.recover(admitted);
  executor.report_to(other);
  other.take_over(second, fresh, cluster);
  const std::size_t before = log.events.size();
  other.hold_round(Time(seconds(3)));
  EXPECT_EQ(log.events.size(), before) << "nothing is reported twice";
  EXPECT_EQ(second.arrived, (std::vector{runs, waits}));
  EXPECT_EQ(fresh.current().free_mask(1), 0b1100u);
  EXPECT_EQ(other.state().job(waits).promised, Time(seconds(50)));
  other.ended(runs, EventKind::Completed, 0, Time(seconds(4)));
  EXPECT_EQ(log.events.back().sequence, admitted.sequence + 1);
}

}  // namespace
}  // namespace orrery
