#include "live/agent/node_agent.h"

#include "live/agent/test_node_agent.h"

namespace orrery {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;

const LaunchName kA{.job = 1};
const LaunchName kB{.job = 2};

TEST_F(NodeAgentTest, StartsWhatOrdersNameOnTheGpusTheyName) {
  Assignment wanted = assignment(kA, 0b110);
  wanted.cpu_milli = 1500;
  order({wanted});
  EXPECT_EQ(state(kA), State::Running);
  ASSERT_EQ(processes_.running().size(), 1u);
  const Launch launch = processes_.running().front();
  EXPECT_EQ(launch.gpus, (std::vector<std::string>{"1", "2"}));
  EXPECT_EQ(launch.cpus, (std::vector<int>{0, 1}));
  EXPECT_TRUE(launch.ends_with_lease);
  EXPECT_EQ(processes_.lease(), (Lease{.until = now_ + kLease, .answered = now_, .term = 1}));
}

TEST_F(NodeAgentTest, LocalRankIsThePlaceOfItsGpuAmongThoseItSees) {
  std::vector<Assignment> ranks;
  for (int rank = 0; rank < 3; ++rank) {
    Assignment one = assignment({.job = 1, .epoch = 1, .rank = rank}, std::uint64_t{2} << rank);
    one.ranks = one.local_ranks = 3;
    one.local_rank = rank;
    one.gpus_visible = 0b1110;
    ranks.push_back(one);
  }
  order(ranks);
  ASSERT_EQ(processes_.running().size(), 3u);
  for (const Launch& launch : processes_.running()) {
    const auto local = static_cast<std::size_t>(launch.gang.local_rank);
    EXPECT_EQ(launch.gpus_visible, (std::vector<std::string>{"1", "2", "3"}));
    EXPECT_EQ(launch.gpus, (std::vector<std::string>{launch.gpus_visible[local]}));
  }
}

TEST(LaunchOf, TheDevicesOfGpusThatItDoesNotSeeAreClosed) {
  NodeOptions options = node_options();
  for (std::size_t i = 0; i < 3; ++i) {
    options.machine.gpus[i].device = "/dev/nvidia" + std::to_string(i);
  }
  options.processes_most = 100;
  options.core_bytes = -1;
  Assignment wanted = assignment(kA, 0b0010);
  wanted.gpus_visible = 0b0011;
  wanted.private_tmp = true;
  const Launch launch = launch_of(wanted, {}, options);
  EXPECT_EQ(launch.closed_devices, (std::vector<std::string>{"/dev/nvidia2"}))
      << "and the fourth GPU has no file";
  EXPECT_EQ(launch.processes, 100);
  EXPECT_EQ(launch.core_bytes, -1);
  EXPECT_TRUE(launch.wants_private_tmp);
}

TEST_F(NodeAgentTest, ChoosesOnePortForAllRanksOfARunAndReportsIt) {
  Assignment other = assignment({.job = 1, .epoch = 1, .rank = 1}, 0b10);
  order({assignment({.job = 1, .epoch = 1}, 0b1), other, assignment(kB, 0b100)});
  ASSERT_EQ(processes_.running().size(), 3u);
  const LaunchName first{.job = 1, .epoch = 1};
  const int port = of(first)->master_port;
  EXPECT_GT(port, 0);
  EXPECT_EQ(of(other.name)->master_port, port);
  EXPECT_NE(of(kB)->master_port, port);
  begin();
  EXPECT_EQ(of(first)->master_port, port) << "as the launch says, to the agent after this one";
}

TEST_F(NodeAgentTest, APortThatTheOrdersNameIsTaken) {
  Assignment wanted = assignment(kA, 1);
  wanted.master_port = 4711;
  order({wanted});
  EXPECT_EQ(processes_.running().front().gang.master_port, 4711);
  EXPECT_EQ(of(kA)->master_port, 4711);
}

TEST_F(NodeAgentTest, StopsWhatTheyDoNotNameAndReportsItsEndUntilThatIsKnown) {
  order({assignment(kA, 1)});
  order({});
  EXPECT_EQ(state(kA), State::Ended);
  EXPECT_EQ(of(kA)->end.kind, JobEnd::Kind::Stopped);
  order({});
  EXPECT_EQ(state(kA), State::Ended);
  Orders known = orders({});
  known.forget = {kA};
  agent_->on_orders(known, now_);
  pass(kLease / 3);
  report();
  EXPECT_FALSE(of(kA));
}

TEST_F(NodeAgentTest, AnEndIsNotForgottenWhileOrdersNameTheLaunch) {
  scripts_[kA].runs = seconds(1);
  order({assignment(kA, 1)});
  pass(seconds(2));
  Orders known = orders({assignment(kA, 1)});
  known.forget = {kA};
  agent_->on_orders(known, now_);
  pass(seconds(1));
  EXPECT_EQ(processes_.starts().at(kA), 1);
  EXPECT_TRUE(processes_.running().empty());
}

TEST_F(NodeAgentTest, ANewLaunchWaitsForItsGpusUntilTheOldOneHasLeft) {
  scripts_[kA].deaf = true;
  Assignment first = assignment(kA, 1);
  first.grace = seconds(3);
  order({first});
  order({assignment(kB, 1)});
  EXPECT_EQ(state(kA), State::Stopping);
  EXPECT_EQ(state(kB), State::Waiting);
  pass(seconds(2));
  EXPECT_EQ(processes_.starts().count(kB), 0u);
  pass(seconds(1));
  report();
  EXPECT_EQ(of(kA)->end.signal, 9);
  EXPECT_EQ(state(kB), State::Running);
}

TEST_F(NodeAgentTest, LaunchesThatBothShareRunOnOneGpu) {
  Assignment first = assignment(kA, 1);
  Assignment second = assignment(kB, 1);
  first.shares = true;
  order({first, second});
  EXPECT_EQ(state(kB), State::Waiting);
  second.shares = true;
  order({first, second});
  EXPECT_EQ(state(kB), State::Running);
}

TEST_F(NodeAgentTest, WaitsForCpusOfLeavingLaunchesAndSharesThemWhereThereAreTooFew) {
  scripts_[kA].leaves = seconds(1);
  Assignment first = assignment(kA, 1);
  Assignment second = assignment(kB, 2);
  Assignment third = assignment({.job = 3}, 4);
  first.cpu_milli = 4000;
  second.cpu_milli = 2000;
  third.cpu_milli = 4000;
  order({first});
  order({second, third});
  EXPECT_EQ(state(kB), State::Waiting);
  pass(seconds(1));
  report();
  EXPECT_EQ(state(kB), State::Running);
  EXPECT_EQ(state({.job = 3}), State::Running);
  for (const Launch& launch : processes_.running()) {
    EXPECT_EQ(launch.cpus.size(), launch.job == JobId{2} ? 2u : 0u);
  }
}

TEST_F(NodeAgentTest, WhatCannotBeStartedHasEndedWithTheReason) {
  scripts_[kA].refused = "no such thing";
  order({assignment(kA, 1), assignment(kB, 1 << 20)});
  EXPECT_EQ(of(kA)->end.kind, JobEnd::Kind::NotStarted);
  EXPECT_EQ(of(kA)->end.message, "no such thing");
  EXPECT_EQ(of(kB)->end.message, "this node has no GPU 20");
}

TEST_F(NodeAgentTest, OrdersThatAreOldForeignOrDoubledChangeNothing) {
  const Orders good = orders({assignment(kA, 1)});
  agent_->on_orders(good, now_);
  const auto refused = [&](auto change) {
    Orders other = orders({});
    change(other);
    agent_->on_orders(other, now_);
    processes_.advance(now_);
    return processes_.running().size() == 1;
  };
  EXPECT_TRUE(refused([](Orders& other) { other.instance = "there"; }));
  EXPECT_TRUE(refused([](Orders& other) { other.term = 0; }));
  EXPECT_TRUE(refused([](Orders& other) { other.session = 0; }));
  EXPECT_TRUE(refused([&](Orders& other) { other.number = good.number; }));
  EXPECT_TRUE(refused([](Orders& other) { other.report += 1; }));
  EXPECT_TRUE(refused([](Orders& other) { other.version += 1; }));
  EXPECT_FALSE(refused([](Orders&) {}));
}

TEST_F(NodeAgentTest, AnotherAgentTakesOverAndIgnoresAnswersToTheOneBefore) {
  Assignment wanted = assignment(kA, 1);
  wanted.cpu_milli = 2000;
  order({wanted});
  const Orders late = orders({});
  pass(seconds(1));
  begin();
  EXPECT_EQ(state(kA), State::Running);
  agent_->on_orders(late, now_);
  Orders older = orders({});
  older.term = 0;
  agent_->on_orders(older, now_);
  EXPECT_TRUE(processes_.asked_to_stop().empty());

  Assignment second = assignment(kB, 2);
  second.cpu_milli = 1000;
  order({wanted, second});
  EXPECT_EQ(processes_.starts().at(kA), 1);
  for (const Launch& launch : processes_.running()) {
    if (launch.job == JobId{2}) {
      EXPECT_EQ(launch.cpus, (std::vector<int>{2}));
    }
  }
}

TEST_F(NodeAgentTest, StopsEverythingWhenTheLeaseIsOverAndStartsAgainUnderANewOne) {
  scripts_[kA].leaves = milliseconds(1);
  order({assignment(kA, 1)});
  pass(kLease - milliseconds(1));
  EXPECT_EQ(processes_.running().size(), 1u);
  pass(milliseconds(1));
  pass(milliseconds(1));
  EXPECT_TRUE(processes_.running().empty());
  report();
  EXPECT_EQ(of(kA)->end.kind, JobEnd::Kind::LeaseLost);
  EXPECT_EQ(processes_.asked_to_stop().at(kA), JobEnd::Kind::LeaseLost);
  order({assignment(kB, 1)});
  EXPECT_EQ(state(kB), State::Running);
}

TEST_F(NodeAgentTest, ALaunchRunsForItsNodeTimeoutWithoutAScheduler) {
  Assignment patient = assignment(kA, 1);
  patient.node_timeout = std::chrono::hours(12);
  Assignment hasty = assignment(kB, 2);
  hasty.node_timeout = 2 * kLease;
  scripts_[kB].leaves = milliseconds(1);
  order({patient, hasty});
  const Duration answered = now_;
  pass(2 * kLease - milliseconds(1));
  EXPECT_EQ(processes_.running().size(), 2u);
  pass(milliseconds(1));
  pass(milliseconds(1));
  ASSERT_EQ(processes_.running().size(), 1u);
  EXPECT_EQ(processes_.running().front().job, JobId{1});
  pass(answered + std::chrono::hours(12) - now_ - milliseconds(1));
  EXPECT_EQ(processes_.running().size(), 1u);
  pass(milliseconds(1));
  EXPECT_EQ(processes_.asked_to_stop().at(kA), JobEnd::Kind::LeaseLost);
}

TEST_F(NodeAgentTest, WithoutASchedulerAGpuIsStillHandedOn) {
  scripts_[kA].runs = 3 * kLease;
  Assignment first = assignment(kA, 1);
  Assignment second = assignment(kB, 1);
  first.node_timeout = second.node_timeout = std::chrono::hours(1);
  order({first, second});
  EXPECT_EQ(state(kB), State::Waiting);
  pass(3 * kLease);
  report();
  EXPECT_EQ(state(kB), State::Running);
}

TEST_F(NodeAgentTest, ReportsOftenEnoughForTheShortestNodeTimeout) {
  Assignment hasty = assignment(kA, 1);
  hasty.node_timeout = seconds(3);
  order({hasty});
  pass(seconds(1));
  EXPECT_TRUE(agent_->next_report(now_));
}

TEST_F(NodeAgentTest, TheLeaseCountsFromWhenTheAnsweredReportWasSent) {
  const Orders late = orders({assignment(kA, 1)});
  pass(kLease);
  agent_->on_orders(late, now_);
  report();
  EXPECT_EQ(state(kA), State::Waiting);
  EXPECT_TRUE(processes_.starts().empty());
}

TEST_F(NodeAgentTest, StartsNothingUnderALeaseThatCouldNotBeWritten) {
  processes_.fail_writes(true);
  order({assignment(kA, 1)});
  EXPECT_EQ(state(kA), State::Waiting);
  processes_.fail_writes(false);
  order({assignment(kA, 1)});
  EXPECT_EQ(state(kA), State::Running);
}

TEST_F(NodeAgentTest, AFullDiskIsNoFaultOfAJobAndIsReportedUntilItHasSpaceForAWhile) {
  order({});
  processes_.fail_writes(true);
  order({assignment(kA, 1)});
  ASSERT_EQ(state(kA), State::Ended);
  EXPECT_EQ(of(kA)->end.kind, JobEnd::Kind::SupervisorLost) << "it starts again elsewhere";
  EXPECT_EQ(of(kA)->end.message, "its node could not start it: no space left");
  EXPECT_EQ(last_.offer.fault, "no space left");
  pass(seconds(30));
  order({});
  processes_.fail_writes(false);
  pass(seconds(59));
  order({});
  EXPECT_EQ(last_.offer.fault, "no space left") << "it might fail again at once";
  pass(seconds(1));
  order({});
  EXPECT_EQ(last_.offer.fault, "");
  order({assignment(kB, 1)});
  EXPECT_EQ(state(kB), State::Running);
}

TEST_F(NodeAgentTest, ReportsWhenSomethingChangedAndEveryThirdOfTheLease) {
  order({assignment(kA, 1)});
  EXPECT_FALSE(agent_->next_report(now_));
  pass(kLease / 3 - milliseconds(1));
  EXPECT_FALSE(agent_->next_report(now_));
  EXPECT_LE(agent_->next_due(now_), now_ + milliseconds(1));
  pass(milliseconds(1));
  EXPECT_TRUE(agent_->next_report(now_));
  agent_->note_progress(kA, {.iteration = 4, .iterations = 10});
  EXPECT_TRUE(agent_->next_report(now_)) << "that it speaks at all is news";
  agent_->note_progress(kA, {.iteration = 5, .iterations = 10});
  EXPECT_FALSE(agent_->next_report(now_));
  agent_->note_progress(kA, {.can_stop_at = 7});
  report();
  EXPECT_EQ(of(kA)->iteration, 5);
  EXPECT_EQ(of(kA)->can_stop_at, 7);
}

TEST_F(NodeAgentTest, HandsAStopOnToTheJobOnceAndReportsWhatItSays) {
  scripts_[kA].iteration = seconds(1);
  const std::vector<Assignment> both = {assignment(kA, 1), assignment(kB, 2)};
  const auto stops_at = [&](double at) {
    Orders stop = orders(both);
    stop.stops = {{.launch = kA, .at = at, .reason = "resize", .gpus_next = 4, .ranks_next = 2},
                  {.launch = kB, .at = -1}};
    return stop;
  };
  order(both);
  pass(milliseconds(2500));
  report();
  EXPECT_EQ(of(kA)->iteration, 2);
  EXPECT_EQ(of(kB)->iteration, -1);
  agent_->on_orders(stops_at(-1), now_);
  pass(milliseconds(100));
  report();
  EXPECT_EQ(of(kA)->can_stop_at, 3);
  EXPECT_EQ(of(kB)->can_stop_at, kCannotStop) << "no client listens there";
  ASSERT_EQ(processes_.resizes().size(), 1u);
  EXPECT_EQ(processes_.resizes().at(kA).gpus, 4);
  EXPECT_EQ(processes_.resizes().at(kA).ranks, 2);
  agent_->on_orders(stops_at(3), now_);
  pass(seconds(1));
  report();
  ASSERT_EQ(state(kA), State::Ended);
  EXPECT_EQ(of(kA)->end, (JobEnd{.kind = JobEnd::Kind::Exited, .exit_code = 0}));
  EXPECT_EQ(of(kA)->checkpointed, 3);
  EXPECT_FALSE(of(kA)->finished);
  EXPECT_EQ(state(kB), State::Running);
}

TEST_F(NodeAgentTest, LeavesOnceAllJobsHaveEndedAndThatIsReported) {
  scripts_[kA].leaves = seconds(2);
  order({assignment(kA, 1)});
  agent_->leave(now_);
  report();
  EXPECT_FALSE(last_.leaving);
  order({assignment(kA, 1), assignment(kB, 2)});
  EXPECT_TRUE(processes_.starts().count(kB) == 0);
  pass(seconds(2));
  report();
  EXPECT_TRUE(last_.leaving);
  EXPECT_TRUE(agent_->has_left());
}

TEST_F(NodeAgentTest, ARefusedAgentStartsNothingAndItsJobsEndWithTheLease) {
  order({assignment(kA, 1)});
  Orders no = orders({assignment(kB, 2)});
  no.refused = "unknown token";
  agent_->on_orders(no, now_);
  EXPECT_EQ(agent_->refused(), "unknown token");
  EXPECT_EQ(processes_.running().size(), 1u);
  pass(kLease);
  EXPECT_TRUE(processes_.running().empty());
}

TEST_F(NodeAgentTest, LogRequestsAreAnsweredAtOnceOrWhenThereIsSomethingOrTheirTimeIsOver) {
  scripts_[kA].runs = seconds(9);
  order({assignment(kA, 1)});
  processes_.write(kA, "one");
  const auto ask = [&](std::int64_t request, std::int64_t offset, Duration wait) {
    Orders more = orders({assignment(kA, 1)});
    more.logs = {{.request = request, .launch = kA, .offset = offset, .wait = wait}};
    agent_->on_orders(more, now_);
    last_.logs.clear();
    report();
  };
  ask(1, 0, {});
  ASSERT_EQ(last_.logs.size(), 1u);
  EXPECT_EQ(last_.logs[0], (LogPiece{.request = 1, .bytes = "one"}));
  ask(2, 3, seconds(2));
  EXPECT_TRUE(last_.logs.empty());
  processes_.write(kA, "two");
  pass(seconds(1));
  report();
  ASSERT_EQ(last_.logs.size(), 1u);
  EXPECT_EQ(last_.logs[0], (LogPiece{.request = 2, .bytes = "two", .offset = 3}));
  ask(3, 6, seconds(2));
  pass(seconds(2));
  report();
  ASSERT_EQ(last_.logs.size(), 1u);
  EXPECT_EQ(last_.logs[0], (LogPiece{.request = 3, .offset = 6}));
  pass(seconds(6));
  ask(4, 3, seconds(2));
  ASSERT_EQ(last_.logs.size(), 1u);
  EXPECT_EQ(last_.logs[0], (LogPiece{.request = 4, .bytes = "two", .offset = 3, .ended = true}));
}

}  // namespace
}  // namespace orrery
