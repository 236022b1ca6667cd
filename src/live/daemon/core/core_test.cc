#include "live/daemon/core/core.h"

#include "live/daemon/answers/queries.h"
#include "live/daemon/core/test_core.h"
#include "live/daemon/log/replay.h"

namespace orrery {
namespace {

using std::chrono::seconds;

TEST(Core, StartsAJobOnANodeAndKnowsItsEnd) {
  TestCore test;
  test.join("n", 2, 1);
  const JobNumber job = test.submit({.gpus = 2});
  ASSERT_EQ(test.orders[1].assignments.size(), 1u);
  EXPECT_EQ(test.orders[1].assignments.front().gpus, 3u);
  EXPECT_EQ(test.state(job), JobState::Running);
  test.report("n", 2, 1, {ended({job, 1, 0})});
  test.pass();
  EXPECT_EQ(test.state(job), JobState::Done);
  EXPECT_EQ(test.orders[1].forget, std::vector<LaunchName>{(LaunchName{job, 1, 0})});
  EXPECT_TRUE(test.orders[1].assignments.empty());
}

std::string variable(const Assignment& assignment, const std::string& name) {
  for (const auto& [key, value] : assignment.environment) {
    if (key == name) return value;
  }
  return "";
}

TEST(Core, TheRanksOfAJobOverTwoNodesShareASecret) {
  TestCore live({.gang_secret = [](JobNumber job, std::int64_t epoch) {
    return "secret of " + std::to_string(job) + "." + std::to_string(epoch);
  }});
  live.join("a", 2, 1);
  live.join("b", 2, 2);
  live.submit({.gpus = 4});
  ASSERT_EQ(live.orders[1].assignments.size(), 1u);
  const LaunchName first = live.orders[1].assignments.front().name;
  live.report("a", 2, 1, {{.name = first, .state = LaunchState::Running, .master_port = 21000}});
  live.pass();
  ASSERT_EQ(live.orders[2].assignments.size(), 1u);
  for (const std::int64_t node : {1, 2}) {
    const Assignment& assignment = live.orders[node].assignments.front();
    EXPECT_EQ(assignment.ranks, 2);
    EXPECT_EQ(variable(assignment, "ORRERY_GANG_SECRET"), "secret of 1.1");
  }
}

TEST(Core, AJobOfOneRankIsGivenNoSecret) {
  TestCore live({.gang_secret = [](JobNumber, std::int64_t) { return std::string("secret"); }});
  live.join("a", 2, 1);
  live.submit({.gpus = 2});
  ASSERT_EQ(live.orders[1].assignments.size(), 1u);
  EXPECT_EQ(variable(live.orders[1].assignments.front(), "ORRERY_GANG_SECRET"), "");
}

TEST(Core, TheSameKeyIsTheSameSubmission) {
  TestCore test;
  const SubmitRequest request{.job = {.argv = {"train"}, .array = {1, 2, 3}}, .key = "k"};
  const auto first = test.core.submit(kRoot, request, test.now);
  const auto again = test.core.submit(kRoot, request, test.now);
  const auto other = test.core.submit({.name = "ann"}, request, test.now);
  ASSERT_TRUE(first.ok() && again.ok() && other.ok());
  EXPECT_EQ(first.value().first, again.value().first);
  EXPECT_EQ(again.value().count, 3);
  EXPECT_EQ(other.value().first, 4) << "keys belong to their callers";
}

TEST(Core, WhatIsKnownOfAModelIsTheSchedulersToSay) {
  CoreOptions options;
  options.specs.measure = [](JobRequest& request) -> Status {
    if (request.model != "bert") return invalid("profile: not measured");
    request.speeds = SpeedCurve{.points = {{1, 2}}, .widest = 1};
    return {};
  };
  TestCore test(options);
  const JobNumber job = test.submit({.model = "bert"});
  const LiveJob& known = test.core.book().job(*test.core.book().find(job));
  EXPECT_EQ(known.request->speeds, (SpeedCurve{.points = {{1, 2}}, .widest = 1}));
  const auto refused =
      test.core.submit(kRoot, {.job = {.argv = {"train"}, .model = "gpt"}}, test.now);
  ASSERT_FALSE(refused.ok());
  EXPECT_EQ(refused.error().message, "profile: not measured");
  TestCore knows_nothing;
  JobRequest claims{.argv = {"train"}, .speeds = SpeedCurve{.points = {{1, 9}}, .widest = 1}};
  const JobNumber other = knows_nothing.submit(claims);
  EXPECT_FALSE(
      knows_nothing.core.book().job(*knows_nothing.core.book().find(other)).request->speeds);
}

TEST(Core, AnArrayIsOneRecordAndItsJobsAreThereForEveryCall) {
  TestCore test;
  test.join("n", 2, 1);
  JobRequest array{.argv = {"train"}};
  for (int i = 1; i <= 1000; ++i) array.array.push_back(i);
  test.write_down();
  const std::size_t before = test.log.size();
  const auto answer = test.core.submit(kRoot, {.job = array}, test.now);
  ASSERT_TRUE(answer.ok());
  EXPECT_EQ(answer.value().count, 1000);
  test.write_down();
  EXPECT_EQ(test.log.size(), before + 1);
  EXPECT_EQ(test.core.book().jobs().size(), 1000u);
  EXPECT_EQ(test.state(answer.value().first + 999), JobState::Pending);
  // Each of these is asked while an array has just come.
  ASSERT_TRUE(test.core.submit(kRoot, {.job = array}, test.now).ok());
  ASSERT_TRUE(test.core.cancel(kRoot, {.ids = {2000}}, test.now).ok());
  ASSERT_TRUE(test.core.submit(kRoot, {.job = array}, test.now).ok());
  EXPECT_EQ(test.core.ask_for_log({.id = 3000}, 1).error().code, Code::FailedPrecondition);
  ASSERT_TRUE(test.core.submit(kRoot, {.job = array}, test.now).ok());
  EXPECT_NE(test.core.snapshot({}).find("4000"), std::string::npos);
  ASSERT_TRUE(test.core.submit(kRoot, {.job = array}, test.now).ok());
  ASSERT_TRUE(test.core.submit(kRoot, {.job = {.argv = {"next"}, .after = {5000}}}, test.now).ok());
  EXPECT_EQ(test.core.book().next_number(), 5002);
  test.pass();
  EXPECT_EQ(test.core.alive(), 2);
}

TEST(Core, AnArrayThatWasWrittenDownIsThereAfterACrashBeforeAnyCall) {
  TestCore test;
  ASSERT_TRUE(
      test.core.submit(kRoot, {.job = {.argv = {"train"}, .array = {4, 5, 6}}}, test.now).ok());
  test.write_down();
  Core again({});
  for (const Record& record : test.log) ASSERT_TRUE(again.recover(record).ok());
  ASSERT_TRUE(again.begin(1, test.now).ok());
  EXPECT_EQ(again.book().jobs().size(), 3u);
  EXPECT_EQ(again.book().jobs()[2].array_index, 6);
}

TEST(Core, AFailureIsTriedAgainAsOftenAsWasAskedAndALostNodeCostsNothing) {
  TestCore test;
  test.join("n", 1, 1);
  const JobNumber job = test.submit({.retries = 1});
  test.report("n", 1, 1, {ended({job, 1, 0}, JobEnd::Kind::SupervisorLost)});
  test.pass();
  EXPECT_EQ(test.job(job).epoch, 2);
  EXPECT_EQ(test.job(job).failures, 0);
  test.report("n", 1, 1, {ended({job, 2, 0}, JobEnd::Kind::Exited, 7)});
  test.pass();
  EXPECT_EQ(test.job(job).failures, 1);
  EXPECT_EQ(test.state(job), JobState::Running);
  test.report("n", 1, 1, {ended({job, 3, 0}, JobEnd::Kind::Exited, 7)});
  test.pass();
  EXPECT_EQ(test.state(job), JobState::Failed);
  EXPECT_EQ(test.job(job).end->exit_code, 7);
}

TEST(Core, AJobGoesOnElsewhereOnlyWhenNothingOfItCanBeAlive) {
  TestCore test;
  test.join("a", 1, 1);
  test.join("b", 1, 2);
  const JobNumber job = test.submit({.grace = seconds(3)});
  test.obey("a", 1, 1);
  test.pass(seconds(10));
  test.obey("b", 1, 2);
  test.pass(seconds(6));  // a has been silent for longer than its lease
  EXPECT_EQ(test.core.book().nodes()[0].state, NodeState::Lost);
  EXPECT_EQ(test.state(job), JobState::Running);
  EXPECT_TRUE(test.orders[2].assignments.empty());
  test.obey("b", 1, 2);
  test.pass(seconds(15 + 3 + 5 - 16) - std::chrono::milliseconds(1));
  EXPECT_TRUE(test.orders[2].assignments.empty()) << "lease, grace and margin are not over";
  test.pass(seconds(1));
  ASSERT_EQ(test.orders[2].assignments.size(), 1u);
  EXPECT_EQ(test.orders[2].assignments.front().name, (LaunchName{job, 2, 0}));
  EXPECT_TRUE(test.orders[2].assignments.front().resumes);
}

CoreOptions patient() { return {.node_timeout = std::chrono::hours(12)}; }

TEST(Core, AJobStaysWithItsSilentNodeForTheNodeTimeout) {
  TestCore test(patient());
  test.join("a", 1, 1);
  const JobNumber job = test.submit({.grace = seconds(3)});
  test.obey("a", 1, 1);
  EXPECT_EQ(test.orders[1].assignments.front().node_timeout, std::chrono::hours(12));
  for (int hour = 0; hour < 12; ++hour) {
    test.pass(std::chrono::hours(1));
    test.join("b", 1, 2);
    EXPECT_EQ(test.state(job), JobState::Running);
    EXPECT_EQ(test.job(job).epoch, 1);
  }
  test.pass(seconds(3 + 5) + Duration(std::chrono::hours(12)) / 500);
  test.join("b", 1, 2);
  EXPECT_EQ(test.job(job).epoch, 2);
  ASSERT_EQ(test.orders[2].assignments.size(), 1u);
}

TEST(Core, AJobGoesOnWhereItIsWhenItsNodeIsHeardAgain) {
  TestCore test(patient());
  test.join("a", 1, 1);
  const JobNumber job = test.submit({});
  test.obey("a", 1, 1);
  test.pass(std::chrono::hours(5));
  EXPECT_EQ(test.core.book().nodes()[0].state, NodeState::Lost);
  test.obey("a", 1, 1);
  EXPECT_EQ(test.core.book().nodes()[0].state, NodeState::Up);
  EXPECT_EQ(test.job(job).epoch, 1);
  test.report("a", 1, 1, {ended({job, 1, 0})});
  test.pass();
  EXPECT_EQ(test.state(job), JobState::Done);
}

TEST(Core, AJobThatWaitsForALostNodeHoldsNoDevices) {
  TestCore test(patient());
  test.join("a", 1, 1);
  const JobNumber job = test.submit({});
  test.obey("a", 1, 1);
  test.pass(seconds(16));
  test.join("b", 1, 2);
  // Its operator takes it from the lost node, which cannot be reached.
  ASSERT_TRUE(test.core.drain(kRoot, {.node = "a", .now = true}, test.now).ok());
  test.pass();
  EXPECT_EQ(test.state(job), JobState::Paused);
  const JobNumber other = test.submit({});
  EXPECT_EQ(test.state(other), JobState::Running) << "the free GPU is for others";
  EXPECT_EQ(test.state(job), JobState::Paused);
  // The node is heard, has stopped the job as ordered, and the job goes on elsewhere.
  test.report("b", 1, 2, {ended({other, 1, 0})});
  test.report("a", 1, 1, {ended({job, 1, 0}, JobEnd::Kind::Stopped)});
  test.pass();
  EXPECT_EQ(test.state(job), JobState::Running);
  EXPECT_EQ(test.job(job).ran_on.front(), NodeId{1});
}

TEST(Core, AnOperatorMaySayThatANodeIsOff) {
  TestCore test(patient());
  test.join("a", 1, 1);
  const JobNumber job = test.submit({});
  test.obey("a", 1, 1);
  test.join("b", 1, 2);
  EXPECT_FALSE(test.core.drain(kRoot, {.node = "a", .lost = true}, test.now).ok()) << "it answers";
  test.pass(seconds(16));
  test.join("b", 1, 2);
  EXPECT_EQ(test.job(job).epoch, 1);
  ASSERT_TRUE(test.core.drain(kRoot, {.node = "a", .lost = true}, test.now).ok());
  test.pass();
  EXPECT_EQ(test.job(job).epoch, 2);
  ASSERT_EQ(test.orders[2].assignments.size(), 1u);
}

TEST(Core, AMachineThatWasRestartedRunsNothingOfBefore) {
  TestCore test(patient());
  Report report{.offer = {.name = "a", .address = "a", .gpus = 1},
                .instance = "first",
                .number = 1,
                .machine = "m",
                .boot = "1"};
  test.core.reported(1, report, test.now);
  test.pass();
  const JobNumber job = test.submit({});
  ASSERT_EQ(test.orders[1].assignments.size(), 1u);
  // The agent's state is gone; on the same boot the job may be running unseen.
  report.instance = "second";
  report.number = 2;
  test.core.reported(2, report, test.now);
  test.pass();
  EXPECT_NE(test.orders[2].refused, "");
  EXPECT_EQ(test.job(job).epoch, 1);
  report.boot = "2";
  report.number = 3;
  test.core.reported(3, report, test.now);
  test.pass();
  EXPECT_EQ(test.job(job).epoch, 2);
  ASSERT_EQ(test.orders[3].assignments.size(), 1u);
  EXPECT_EQ(test.orders[3].assignments.front().name, (LaunchName{job, 2, 0}));
}

TEST(Core, AnEndThatComesAfterAPauseIsAnEnd) {
  TestCore test;
  test.join("n", 1, 1);
  const JobNumber job = test.submit({});
  test.obey("n", 1, 1);
  ASSERT_TRUE(test.core.drain(kRoot, {.node = "n", .now = true}, test.now).ok());
  test.pass();
  EXPECT_EQ(test.state(job), JobState::Paused);
  test.report("n", 1, 1, {ended({job, 1, 0})});
  test.pass();
  EXPECT_EQ(test.state(job), JobState::Done) << "its work must not be done twice";
}

TEST(Core, ARemovedNodeIsListedNoMoreUntilAnAgentJoinsUnderItsName) {
  TestCore test;
  test.join("n", 1, 1);
  const JobNumber job = test.submit({});
  test.obey("n", 1, 1);
  const auto remove = [&] { return test.core.remove_node(kRoot, {.node = "n"}, test.now); };
  const Status busy = remove();
  ASSERT_FALSE(busy.ok());
  EXPECT_EQ(busy.error().code, Code::FailedPrecondition);
  EXPECT_NE(busy.error().message.find("orrery drain n --now"), std::string::npos);
  test.report("n", 1, 1, {ended({job, 1, 0})});
  test.pass();
  ASSERT_TRUE(remove().ok());
  EXPECT_EQ(remove().error().code, Code::NotFound);
  test.pass();
  EXPECT_TRUE(nodes_of(test.core).nodes.empty());
  // The connection that it had does not bring it back.
  test.report("n", 1, 1, {});
  test.pass();
  EXPECT_NE(test.orders[1].refused, "");
  EXPECT_TRUE(nodes_of(test.core).nodes.empty());
  const JobNumber waits = test.submit({});
  EXPECT_EQ(test.state(waits), JobState::Pending);

  Core from_log{CoreOptions{}};
  for (const Record& record : test.log) ASSERT_TRUE(from_log.recover(record).ok());
  EXPECT_TRUE(nodes_of(from_log).nodes.empty());
  Core from_snapshot{CoreOptions{}};
  ASSERT_TRUE(from_snapshot.restore(test.core.snapshot(Duration::max())).ok());
  EXPECT_TRUE(nodes_of(from_snapshot).nodes.empty());

  test.join("n", 1, 2);
  EXPECT_EQ(nodes_of(test.core).nodes.size(), 1u);
  EXPECT_EQ(test.state(waits), JobState::Running);
}

TEST(Core, WaitsForOthersAndGoesWithThem) {
  TestCore test;
  test.join("n", 4, 1);
  const JobNumber first = test.submit({});
  const JobNumber second = test.submit({.after = {first}});
  const JobNumber third = test.submit({.after = {second}});
  EXPECT_EQ(test.state(second), JobState::Pending);
  EXPECT_EQ(test.job(second).reason.code, Reason::Code::Dependency);
  test.report("n", 4, 1, {ended({first, 1, 0})});
  test.pass();
  EXPECT_EQ(test.state(second), JobState::Running);
  test.report("n", 4, 1, {ended({second, 1, 0}, JobEnd::Kind::Exited, 1)});
  test.pass();
  EXPECT_EQ(test.state(second), JobState::Failed);
  EXPECT_EQ(test.state(third), JobState::Cancelled);
  EXPECT_FALSE(test.core.submit(kRoot, {.job = {.argv = {"x"}, .after = {second}}}, test.now).ok());
}

TEST(Core, AJobThatFitsNowhereDoesNotUseUpItsTenantsQuota) {
  TestCore test;
  test.join("n", 1, 1);
  ASSERT_TRUE(
      test.core.set_quota(kRoot, {.tenant = "root", .gpus = 2, .borrows = false}, test.now).ok());
  const auto both = test.core.submit(kRoot, {.job = {.argv = {"x"}, .gpus = 2}}, test.now);
  ASSERT_TRUE(both.ok());
  const JobNumber small = test.submit({.gpus = 1});
  for (int i = 0; i < 3 && test.core.next_due() <= test.now; ++i) test.pass();
  EXPECT_EQ(test.state(small), JobState::Running);
}

TEST(Core, OnlyAnOperatorTouchesWhatBelongsToOthers) {
  TestCore test;
  const JobNumber job = test.submit({});
  const Caller ann{.role = Caller::Role::User, .name = "ann"};
  const auto denied = test.core.cancel(ann, {.ids = {job}}, test.now);
  ASSERT_FALSE(denied.ok());
  EXPECT_EQ(denied.error().code, Code::PermissionDenied);
  const auto as_other = test.core.submit(ann, {.job = {.argv = {"x"}, .user = "bob"}}, test.now);
  ASSERT_FALSE(as_other.ok());
  EXPECT_EQ(as_other.error().code, Code::PermissionDenied);
  EXPECT_FALSE(test.core.cancel(kRoot, {.ids = {99}}, test.now).ok());
  EXPECT_TRUE(test.core.cancel(kRoot, {.ids = {job}}, test.now).ok());
  EXPECT_EQ(test.state(job), JobState::Cancelled);
}

TEST(Core, AnotherMachineOfTheSameNameIsRefusedWhileTheFirstIsThere) {
  TestCore test;
  test.join("n", 1, 1);
  test.core.reported(2, {.offer = {.name = "n", .gpus = 1}, .instance = "another", .number = 1},
                     test.now);
  test.pass();
  EXPECT_NE(test.orders[2].refused, "");
  test.core.reported(3, {.version = 99, .offer = {.name = "m"}, .instance = "i", .number = 1},
                     test.now);
  test.pass();
  EXPECT_NE(test.orders[3].refused, "");
}

// What the log and a snapshot bring back is what there was.
TEST(Core, ComesBackFromItsLogAndFromASnapshot) {
  TestCore test;
  test.join("a", 2, 1);
  test.join("b", 1, 2);
  ASSERT_TRUE(test.core.set_quota(kRoot, {.tenant = "root", .gpus = 3}, test.now).ok());
  for (int i = 0; i < 4; ++i) test.submit({.array = {i, i + 100}});
  test.obey("a", 2, 1);
  test.pass(seconds(7));
  test.report("a", 2, 1, {ended({1, 1, 0}), {.name = {2, 1, 0}, .state = LaunchState::Running}});
  test.pass();
  ASSERT_TRUE(test.core.cancel(kRoot, {.ids = {5}}, test.now).ok());
  test.submit({.after = {2}});
  test.write_down();
  Core from_log{CoreOptions{}};
  for (const Record& record : test.log) ASSERT_TRUE(from_log.recover(record).ok());
  const std::string before = test.core.snapshot(Duration::max());
  EXPECT_EQ(from_log.snapshot(Duration::max()), before);
  Core from_snapshot{CoreOptions{}};
  const Status restored = from_snapshot.restore(before);
  ASSERT_TRUE(restored.ok()) << restored.error().message;
  EXPECT_EQ(from_snapshot.snapshot(Duration::max()), before);
  EXPECT_TRUE(from_snapshot.begin(1, test.now).ok());
  EXPECT_TRUE(from_log.begin(1, test.now).ok());
  from_snapshot.tick(test.now);
  from_log.tick(test.now);
  EXPECT_EQ(from_snapshot.take_records(), from_log.take_records());
}

TEST(Core, ReplaysItsLogAndNoticesOneThatWasChanged) {
  TestCore test;
  test.join("a", 2, 1);
  for (int i = 0; i < 5; ++i) test.submit({.gpus = 1 + i % 2});
  ASSERT_TRUE(test.core.set_policy(kRoot, {.policy = "las"}, test.now).ok());
  test.pass(seconds(100));
  test.obey("a", 2, 1);
  const auto replay = [&](const std::vector<Record>& log) {
    Replay run{CoreOptions{}};
    for (const Record& record : log) EXPECT_TRUE(run.next(record).ok());
    run.finish();
    return run.difference().value_or("");
  };
  EXPECT_EQ(replay(test.log), "");
  std::vector<Record> changed = test.log;
  const auto started = std::ranges::find(changed, "started", &Record::kind);
  ASSERT_NE(started, changed.end());
  started->job += 1;
  EXPECT_NE(replay(changed), "");
  changed = test.log;
  changed.erase(std::ranges::find(changed, "queued", &Record::kind));
  EXPECT_NE(replay(changed), "");
}

TEST(Core, ADamagedSnapshotIsDataLossWithItsLine) {
  TestCore test;
  test.join("a", 2, 1);
  test.submit({});
  const std::string good = test.core.snapshot(Duration::max());
  for (const std::string& bad :
       {std::string(), std::string("x"), good + "{}\n", good + "[1]\n",
        good + R"({"number":9,"state":"Running","held":[[7,"1"]]})" + "\n"}) {
    Core core{CoreOptions{}};
    const Status status = core.restore(bad);
    ASSERT_FALSE(status.ok()) << bad;
    EXPECT_EQ(status.error().code, Code::DataLoss);
  }
}

}  // namespace
}  // namespace orrery
