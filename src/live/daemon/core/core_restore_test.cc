// A scheduler whose log was lost, or whose log is a copy from before.
#include <gtest/gtest.h>

#include "live/daemon/answers/queries.h"
#include "live/daemon/core/test_core.h"

namespace orrery {
namespace {

using std::chrono::seconds;

const LogNamed kRestored{.first = 1001, .epoch_floor = 50, .restored = true};

// What TestCore does, over a log that another core has written.
class RestoredCore {
 public:
  explicit RestoredCore(const std::vector<Record>& log)
      : core(CoreOptions{.node_timeout = std::chrono::hours(12)}) {
    for (const Record& record : log) {
      now = std::max(now, record.time);
      EXPECT_TRUE(core.recover(record).ok());
    }
    EXPECT_TRUE(core.recover(to_record(kRestored, now)).ok());
    EXPECT_TRUE(core.begin(1'000'000'000, now).ok());
    pass();
  }
  void pass(Duration time = {}) {
    now += time;
    core.tick(now);
    core.take_records();
    for (Core::Outgoing& outgoing : core.take_orders()) {
      orders[outgoing.connection] = std::move(outgoing.orders);
    }
  }
  void report(const std::string& node, std::int64_t connection, std::int64_t term,
              std::vector<LaunchReport> launches) {
    core.reported(connection,
                  {.offer = {.name = node, .address = node, .gpus = 1},
                   .instance = "i-" + node,
                   .number = ++reports_,
                   .term = term,
                   .orders = orders[connection].number,
                   .launches = std::move(launches),
                   .log = core.book().origin().id},
                  now);
    pass();
  }
  // As an agent that obeys.
  void report(const std::string& node, std::int64_t connection,
              const std::vector<LaunchReport>& launches) {
    report(node, connection, 0, launches);
    report(node, connection, core.book().term(), launches);
  }
  JobState state(JobNumber number) const {
    return core.state().job(*core.book().find(number)).state;
  }
  const LiveJob& job(JobNumber number) const { return core.book().job(*core.book().find(number)); }

  Core core;
  Time now{};
  std::map<std::int64_t, Orders> orders;

 private:
  std::int64_t reports_ = 0;
};

LaunchReport running(const LaunchName& name) {
  return {.name = name, .state = LaunchState::Running};
}

// Two nodes with a GPU each, and a job that runs on the first.
class CoreRestoreTest : public testing::Test {
 protected:
  CoreRestoreTest() {
    before_.join("a", 1, 1);
    before_.join("b", 1, 2);
    job_ = before_.submit({});
    before_.obey("a", 1, 1);
  }
  TestCore before_;
  JobNumber job_ = 0;
};

TEST_F(CoreRestoreTest, AJobThatStillRunsGoesOn) {
  RestoredCore core(before_.log);
  core.report("a", 1, {running({job_, 1, 0})});
  core.report("b", 2, {});
  EXPECT_EQ(core.state(job_), JobState::Running);
  EXPECT_EQ(core.job(job_).epoch, 1);
  ASSERT_EQ(core.orders[1].assignments.size(), 1u);
  EXPECT_TRUE(core.orders[1].assignments.front().argv.empty())
      << "an agent that has forgotten it must not start it again";
}

TEST_F(CoreRestoreTest, AJobThatWentOnElsewhereIsNotStartedBesides) {
  RestoredCore core(before_.log);
  // Since the copy it ended on the first node, and was started on the second, which is cut off.
  core.report("a", 1, {});
  EXPECT_TRUE(core.orders[1].assignments.empty());
  core.pass(std::chrono::hours(1));
  core.report("a", 1, {});
  EXPECT_TRUE(core.orders[1].assignments.empty()) << "the second node was not heard of";
  core.report("b", 2, {running({job_, 2, 0})});
  core.report("a", 1, {});
  EXPECT_TRUE(core.orders[1].assignments.empty()) << "it runs there, and is being stopped";
  EXPECT_TRUE(core.orders[2].assignments.empty());
  core.report("b", 2, {ended({job_, 2, 0}, JobEnd::Kind::Stopped)});
  core.report("a", 1, {});
  core.report("b", 2, {});
  EXPECT_EQ(core.state(job_), JobState::Running);
  EXPECT_GT(core.job(job_).epoch, 50) << "beyond all epochs that were ever given out";
  EXPECT_EQ(core.orders[1].assignments.size() + core.orders[2].assignments.size(), 1u);
}

TEST_F(CoreRestoreTest, AnOperatorCanSayThatANodeIsOff) {
  RestoredCore core(before_.log);
  core.report("a", 1, {});
  EXPECT_TRUE(core.orders[1].assignments.empty());
  const auto nodes = nodes_of(core.core).nodes;
  EXPECT_NE(nodes[1].note.find("not heard of since the log was restored"), std::string::npos);
  ASSERT_TRUE(core.core.drain(kRoot, {.node = "b", .lost = true}, core.now).ok());
  core.pass();
  core.report("a", 1, {});
  ASSERT_EQ(core.orders[1].assignments.size(), 1u);
  EXPECT_EQ(core.orders[1].assignments.front().name, (LaunchName{job_, core.job(job_).epoch, 0}));
  EXPECT_GT(core.job(job_).epoch, 50);
}

TEST_F(CoreRestoreTest, NewJobsHaveNewNumbersAndNeedNotWait) {
  RestoredCore core(before_.log);
  core.report("a", 1, {});
  JobRequest request{.argv = {"train"}, .priority = 5};
  const auto submitted = core.core.submit(kRoot, {.job = request}, core.now);
  ASSERT_TRUE(submitted.ok());
  EXPECT_EQ(submitted.value().first, 1001);
}

TEST_F(CoreRestoreTest, ASnapshotKeepsIt) {
  RestoredCore first(before_.log);
  Core second(CoreOptions{});
  ASSERT_TRUE(second.restore(first.core.snapshot(Duration::max())).ok());
  EXPECT_EQ(second.book().origin().id, first.core.book().origin().id);
  EXPECT_EQ(second.book().origin().epoch_floor, 50);
  EXPECT_EQ(second.book().origin().nodes_unheard, 2);
  EXPECT_EQ(second.book().origin().restored_before, 1001);
  EXPECT_TRUE(second.book().nodes()[0].unheard);
}

// The whole state folder is put back from a copy, and no entry says so.
class CoreOldCopyTest : public CoreRestoreTest {
 protected:
  CoreOldCopyTest() {
    for (const Record& record : before_.log) EXPECT_TRUE(core_.recover(record).ok());
    now_ = before_.now;
    EXPECT_TRUE(core_.begin(200'000'000'000, now_).ok());
    pass();
  }
  void pass() {
    core_.tick(now_);
    core_.take_records();
    for (Core::Outgoing& outgoing : core_.take_orders()) {
      orders_[outgoing.connection] = std::move(outgoing.orders);
    }
  }
  void report(const std::string& node, std::int64_t connection, std::int64_t term,
              std::vector<LaunchReport> launches) {
    core_.reported(connection,
                   {.offer = {.name = node, .address = node, .gpus = 1},
                    .instance = "i-" + node,
                    .number = ++reports_,
                    .term = term,
                    .orders = orders_[connection].number,
                    .launches = std::move(launches),
                    .log = core_.book().origin().id},
                   now_);
    pass();
  }
  bool is_found_out() const { return core_.book().origin().restored_before > 0; }

  Core core_{CoreOptions{.node_timeout = std::chrono::hours(12)}};
  Time now_{};
  std::map<std::int64_t, Orders> orders_;
  std::int64_t reports_ = 0;
};

TEST_F(CoreOldCopyTest, AnAgentThatObeyedATermOfThisLogOrTheOneBeforeProvesNothing) {
  report("a", 1, 1, {running({job_, 1, 0})});
  report("b", 2, 200, {});
  EXPECT_FALSE(is_found_out());
}

TEST_F(CoreOldCopyTest, IsFoundOutByATermThatTheLogLacks) {
  report("a", 1, 100, {running({job_, 1, 0})});
  EXPECT_TRUE(is_found_out());
  EXPECT_GT(core_.book().next_number(), 1'000'000) << "numbers are not given out twice";
  const auto nodes = nodes_of(core_).nodes;
  EXPECT_NE(nodes[1].note.find("not heard of since the log was restored"), std::string::npos);
  const JobNumber next = core_.book().next_number();
  report("a", 1, 100, {running({job_, 1, 0})});
  EXPECT_EQ(core_.book().next_number(), next) << "once is enough";
  report("a", 1, 200, {running({job_, 1, 0})});
  report("b", 2, 200, {});
  EXPECT_EQ(core_.book().origin().nodes_unheard, 0);
  EXPECT_EQ(core_.state().job(*core_.book().find(job_)).state, JobState::Running);
}

TEST_F(CoreOldCopyTest, IsFoundOutByALaunchThatTheLogLacksAndDoesNotStartItsJobBesides) {
  // Since the copy the job went to the second node.
  report("b", 2, 1, {running({job_, 2, 0})});
  EXPECT_TRUE(is_found_out());
  report("b", 2, 200, {running({job_, 2, 0})});
  report("a", 1, 1, {});
  report("a", 1, 200, {});
  EXPECT_TRUE(orders_[1].assignments.empty()) << "it runs on the second node";
  report("b", 2, 200, {ended({job_, 2, 0}, JobEnd::Kind::Stopped)});
  report("a", 1, 200, {});
  report("b", 2, 200, {});
  EXPECT_EQ(orders_[1].assignments.size() + orders_[2].assignments.size(), 1u);
  EXPECT_GT(core_.book().job(*core_.book().find(job_)).epoch, 200);
}

TEST_F(CoreOldCopyTest, IsFoundOutByAJobThatTheLogLacks) {
  report("a", 1, 1, {running({job_, 1, 0}), running({job_ + 1, 1, 0})});
  EXPECT_TRUE(is_found_out());
}

TEST(CoreLog, TermsGoBeyondThoseOfALostLog) {
  Core core(CoreOptions{});
  ASSERT_TRUE(core.begin(1'794'862'063'000'000'000, Time{}).ok());
  EXPECT_EQ(core.book().term(), 1'794'862'063);
}

TEST(CoreLog, AnAgentOfAnotherLogIsNoNodeAndIsShown) {
  TestCore test;
  Report report{.offer = {.name = "a", .address = "a", .gpus = 1},
                .instance = "i",
                .number = 1,
                .term = 3,
                .launches = {running({1, 1, 0})},
                .log = "another"};
  test.core.reported(1, report, test.now);
  test.pass();
  EXPECT_TRUE(test.core.book().nodes().empty());
  EXPECT_EQ(test.orders[1].log, test.core.book().origin().id);
  EXPECT_NE(test.orders[1].log, "");
  EXPECT_EQ(test.orders[1].number, 0);
  report.number = 2;
  report.refuses = "1 process of the log another runs here";
  test.core.reported(1, report, test.now);
  test.pass();
  const auto nodes = nodes_of(test.core).nodes;
  ASSERT_EQ(nodes.size(), 1u);
  EXPECT_EQ(nodes[0].state, "refusing");
  EXPECT_NE(nodes[0].note.find("log another runs here"), std::string::npos);
  ASSERT_TRUE(test.core.drain(kRoot, {.node = "a", .replace_log = true}, test.now).ok());
  report.number = 3;
  test.core.reported(1, report, test.now);
  test.pass();
  EXPECT_EQ(test.orders[1].replaces, "another");
}

}  // namespace
}  // namespace orrery
