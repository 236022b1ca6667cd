// Rights and limits through the whole core: submission, log, snapshot, replay.
#include <gtest/gtest.h>

#include "live/daemon/core/test_core.h"
#include "live/daemon/log/replay.h"

namespace orrery {
namespace {

const Caller kBob{.name = "bob"};

class CoreRights : public testing::Test {
 protected:
  Result<SubmitAnswer> submit(JobRequest job, const std::string& key = "") {
    job.argv = {"train"};
    auto answer = test_.core.submit(kBob, {.job = std::move(job), .key = key}, test_.now);
    test_.pass();
    return answer;
  }

  TestCore test_;
};

TEST_F(CoreRights, AUserCannotStopAnotherTeamsJobByAClaimedTenantOrPriority) {
  test_.join("n1", 4, 1);
  const JobNumber victim = test_.submit({.user = "ann", .tenant = "vision", .gpus = 4});
  ASSERT_TRUE(
      test_.core.set_quota(kRoot, {.tenant = "vision", .gpus = 4, .borrows = true}, test_.now)
          .ok());
  ASSERT_EQ(test_.state(victim), JobState::Running);
  EXPECT_EQ(submit({.tenant = "vision", .gpus = 4, .priority = 1000}).error().code,
            Code::PermissionDenied);
  EXPECT_EQ(submit({.tenant = "vision", .gpus = 4}).error().code, Code::PermissionDenied);
  EXPECT_EQ(submit({.gpus = 4, .priority = 1000}).error().code, Code::PermissionDenied);
  EXPECT_TRUE(submit({.gpus = 4}).ok());
  test_.pass(std::chrono::seconds(1));
  EXPECT_EQ(test_.state(victim), JobState::Running);
}

TEST_F(CoreRights, EachJobOfAnArrayCountsAsPending) {
  const Limits limits{.pending = 10};
  test_.core.set_rights(LimitsSet{.name = "bob", .limits = limits}, test_.now);
  EXPECT_EQ(submit({.array = {1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11}}).error().code,
            Code::ResourceExhausted);
  EXPECT_TRUE(submit({.array = {1, 2, 3, 4, 5, 6, 7}}, "key").ok());
  EXPECT_EQ(test_.core.book().pending().of_user("bob"), 7);
  EXPECT_FALSE(submit({.array = {1, 2, 3, 4}}).ok());
  EXPECT_TRUE(submit({.array = {1, 2, 3, 4, 5, 6, 7}}, "key").ok())
      << "the same submission again is none";
}

TEST_F(CoreRights, JobsThatRunOrHaveEndedArePendingNoLonger) {
  test_.join("n1", 2, 1);
  const auto first = submit({.gpus = 2});
  const auto second = submit({.gpus = 2});
  ASSERT_TRUE(second.ok());
  const PendingJobs& pending = test_.core.book().pending();
  EXPECT_EQ(pending.of_user("bob"), 1);
  ASSERT_TRUE(test_.core.cancel(kBob, {.ids = {second.value().first}}, test_.now).ok());
  EXPECT_EQ(pending.of_user("bob"), 0);
  ASSERT_TRUE(test_.core.drain(kRoot, {.node = "n1", .now = true}, test_.now).ok());
  test_.pass();
  EXPECT_EQ(test_.state(first.value().first), JobState::Paused);
  EXPECT_EQ(pending.of_user("bob"), 1);
  EXPECT_EQ(pending.of_tenant("bob"), 1);
}

TEST_F(CoreRights, TheyComeBackFromLogAndSnapshot) {
  test_.core.set_rights(MembersSet{.tenant = "vision", .members = {{"@lab", "bob"}}}, test_.now);
  test_.core.set_rights(LimitsSet{.name = "bob", .limits = {.priority = 3, .gpus = 2}}, test_.now);
  ASSERT_TRUE(submit({.tenant = "vision", .priority = 3, .array = {1, 2, 3}}).ok());
  test_.write_down();
  const auto expect_same = [&](const Book& book) {
    EXPECT_EQ(book.entitlements().members(), test_.core.book().entitlements().members());
    EXPECT_EQ(book.entitlements().limits(), test_.core.book().entitlements().limits());
    EXPECT_EQ(book.pending().of_tenant("vision"), 3);
  };
  Core read({});
  for (const Record& record : test_.log) ASSERT_TRUE(read.recover(record).ok());
  expect_same(read.book());
  Core restored({});
  ASSERT_TRUE(restored.restore(test_.core.snapshot(Duration::zero())).ok());
  expect_same(restored.book());
  Replay replay{CoreOptions{}};
  for (const Record& record : test_.log) ASSERT_TRUE(replay.next(record).ok());
  replay.finish();
  EXPECT_FALSE(replay.difference()) << *replay.difference();
  expect_same(replay.core().book());
}

TEST_F(CoreRights, ASnapshotForAUserHoldsLimitsOfGpusAndNoMembers) {
  test_.core.set_rights(MembersSet{.tenant = "vision", .members = {{"carol"}}}, test_.now);
  test_.core.set_rights(LimitsSet{.name = "bob", .limits = {.priority = 77, .gpus = 2}}, test_.now);
  const Viewer viewer{.caller = kBob, .tenants = {"bob"}};
  const std::string cut = test_.core.snapshot(Duration::zero(), &viewer);
  EXPECT_EQ(cut.find("carol"), std::string::npos) << cut;
  EXPECT_EQ(cut.find("77"), std::string::npos) << cut;
  EXPECT_NE(cut.find(R"("gpus":2)"), std::string::npos) << cut;
}

}  // namespace
}  // namespace orrery
