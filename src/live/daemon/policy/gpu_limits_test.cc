#include "live/daemon/policy/gpu_limits.h"

#include <gtest/gtest.h>

#include "live/daemon/core/test_core.h"

namespace orrery {
namespace {

JobId id(int number) { return static_cast<JobId>(number); }

Entitlements limited(LimitScope scope, const std::string& name, std::int64_t gpus) {
  Entitlements entitlements;
  entitlements.take(LimitsSet{.scope = scope, .name = name, .limits = {.gpus = gpus}});
  return entitlements;
}

std::vector<JobId> held_by(std::vector<GateJob> jobs, const Entitlements& entitlements) {
  std::vector<JobId> held;
  for (const Held& one : take_over_limit(jobs, entitlements)) held.push_back(one.job);
  return held;
}

TEST(GpuLimits, JobsGoAsLongAsTheyFitByPriorityAndAge) {
  const Entitlements four = limited(LimitScope::User, "ann", 4);
  const GateJob job{.user = "ann", .tenant = "ann", .gpus = 2};
  GateJob first = job, second = job, third = job, urgent = job, other = job;
  first.job = id(0);
  second.job = id(1);
  third.job = id(2);
  urgent.job = id(3);
  urgent.priority = 1;
  other.job = id(4);
  other.user = other.tenant = "bob";
  EXPECT_EQ(held_by({first, second, third, other}, four), std::vector{id(2)});
  EXPECT_EQ(held_by({first, second, third, urgent}, four), (std::vector{id(1), id(2)}));
}

TEST(GpuLimits, AJobThatRunsIsCountedFirstAndNeverTakenOut) {
  const Entitlements four = limited(LimitScope::User, "ann", 4);
  const GateJob runs{
      .job = id(5), .user = "ann", .tenant = "ann", .gpus = 6, .priority = -1, .runs = true};
  const GateJob waits{.job = id(0), .user = "ann", .tenant = "ann", .gpus = 1, .priority = 9};
  EXPECT_EQ(held_by({waits, runs}, four), std::vector{id(0)});
}

TEST(GpuLimits, ATenantsLimitIsForAllItsUsersAndTheReasonSaysTheNumber) {
  const Entitlements four = limited(LimitScope::Tenant, "vision", 4);
  std::vector<GateJob> jobs = {
      {.job = id(0), .user = "ann", .tenant = "vision", .gpus = 3, .runs = true},
      {.job = id(1), .user = "bob", .tenant = "vision", .gpus = 2},
      {.job = id(2), .user = "bob", .tenant = "bob", .gpus = 2}};
  const std::vector<Held> held = take_over_limit(jobs, four);
  ASSERT_EQ(held.size(), 1u);
  EXPECT_EQ(held[0].job, id(1));
  EXPECT_EQ(text(held[0].reason), "its tenant may use 4 GPUs at a time: asks for 2 more");
  EXPECT_EQ(jobs.size(), 2u);
}

TEST(GpuLimits, AnElasticJobCountsWithTheMostItMayGet) {
  const Entitlements four = limited(LimitScope::EachUser, "", 4);
  const GateJob elastic{
      .job = id(0), .user = "ann", .tenant = "ann", .gpus = 1, .gpus_max = 4, .runs = true};
  const GateJob waits{.job = id(1), .user = "ann", .tenant = "ann", .gpus = 1};
  EXPECT_EQ(held_by({elastic, waits}, four), std::vector{id(1)});
}

TEST(GpuLimits, InTheSchedulerTheyBindAndTheirReasonIsShown) {
  TestCore test;
  test.join("n1", 8, 1);
  test.core.set_rights(LimitsSet{.name = "ann", .limits = {.gpus = 2}}, test.now);
  const JobNumber first = test.submit({.user = "ann", .gpus = 2});
  const JobNumber second = test.submit({.user = "ann", .gpus = 1});
  const JobNumber other = test.submit({.user = "bob", .gpus = 4});
  EXPECT_EQ(test.state(first), JobState::Running);
  EXPECT_EQ(test.state(second), JobState::Pending);
  EXPECT_EQ(text(test.job(second).reason), "its user may use 2 GPUs at a time: asks for 1 more");
  EXPECT_EQ(test.state(other), JobState::Running);
  test.core.set_rights(LimitsSet{.name = "ann", .limits = {.gpus = 3}}, test.now);
  test.pass();
  EXPECT_EQ(test.state(second), JobState::Running);
  test.core.set_rights(LimitsSet{.name = "ann", .limits = {.gpus = 1}}, test.now);
  test.pass();
  EXPECT_EQ(test.state(first), JobState::Running) << "a lowered limit stops no job";
}

}  // namespace
}  // namespace orrery
