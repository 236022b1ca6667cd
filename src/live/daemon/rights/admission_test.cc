#include "live/daemon/rights/admission.h"

#include <gtest/gtest.h>

namespace orrery {
namespace {

const Caller kAnn{.name = "ann"};
const Caller kChief{.role = Caller::Role::Admin, .name = "root"};

class AdmissionTest : public testing::Test {
 protected:
  void set(LimitScope scope, const std::string& name, const Limits& limits) {
    entitlements_.take(LimitsSet{.scope = scope, .name = name, .limits = limits});
  }
  static JobRequest job(const std::string& tenant = "") {
    return {.argv = {"train"}, .user = "ann", .tenant = tenant};
  }
  std::string claim(const JobRequest& request, const Caller& caller = kAnn) const {
    const Status status = check_claim(entitlements_, {.caller = caller, .job = request});
    return status.ok() ? "" : status.error().message;
  }
  std::string pend(const JobRequest& request, std::int64_t count,
                   const Caller& caller = kAnn) const {
    const Claim made{.caller = caller, .job = request, .count = count};
    const Status status = check_pending(entitlements_, made, pending_);
    return status.ok() ? "" : status.error().message;
  }
  std::string submit(const JobRequest& request, Time now, const Caller& caller = kAnn) {
    const Status status = rates_.take(entitlements_, {.caller = caller, .job = request}, now);
    return status.ok() ? "" : status.error().message;
  }
  static Time at(double second) { return Time(from_seconds(second)); }

  Entitlements entitlements_;
  PendingJobs pending_;
  SubmissionRates rates_;
};

TEST_F(AdmissionTest, AnotherTeamsTenantIsRefusedUntilOneIsItsMember) {
  EXPECT_EQ(claim(job()), "");
  EXPECT_EQ(claim(job("ann")), "");
  EXPECT_NE(claim(job("vision")).find("ann is not a member of vision"), std::string::npos);
  EXPECT_EQ(claim(job("vision"), kChief), "");
  entitlements_.take(MembersSet{.tenant = "vision", .members = {{"ann"}}});
  EXPECT_EQ(claim(job("vision")), "");
}

TEST_F(AdmissionTest, APriorityAboveTheCeilingIsRefusedWithItsNumber) {
  JobRequest request = job();
  request.priority = 1000;
  const std::string refused = claim(request);
  EXPECT_NE(refused.find("ann asks for 1000"), std::string::npos) << refused;
  EXPECT_NE(refused.find("is 0"), std::string::npos) << refused;
  EXPECT_EQ(claim(request, kChief), "");
  request.priority = -5;
  EXPECT_EQ(claim(request), "");
  set(LimitScope::User, "ann", {.priority = 1000});
  request.priority = 1000;
  EXPECT_EQ(claim(request), "");
}

TEST_F(AdmissionTest, AJobThatCanNeverHoldItsGpusIsRefusedAlsoFromAnAdmin) {
  set(LimitScope::Tenant, "ann", {.gpus = 8});
  JobRequest request = job();
  request.gpus = 8;
  EXPECT_EQ(claim(request), "");
  request.gpus_max = 9;
  EXPECT_EQ(claim(request), "gpus: the job asks for 9, and tenant ann may use 8 at a time");
  EXPECT_NE(claim(request, kChief), "");
}

TEST_F(AdmissionTest, ThreeHundredThousandJobsOfOneUserAreRefusedByDefault) {
  EXPECT_EQ(pend(job(), 20'000), "");
  EXPECT_EQ(pend(job(), 300'000),
            "user ann has 0 jobs that wait, and this submission adds 300000; the limit is 20000");
  pending_.add(job(), 19'999);
  EXPECT_EQ(pend(job(), 1), "");
  EXPECT_NE(pend(job(), 2), "");
  pending_.add(job(), -10'000);
  EXPECT_EQ(pend(job(), 10'000), "");
  EXPECT_EQ(pend(job(), 300'000, kChief), "");
}

TEST_F(AdmissionTest, ATenantsPendingJobsAreThoseOfAllItsUsers) {
  set(LimitScope::Tenant, "vision", {.pending = 10});
  JobRequest of_bob = job("vision");
  of_bob.user = "bob";
  pending_.add(of_bob, 9);
  EXPECT_EQ(pend(job("vision"), 1), "");
  EXPECT_EQ(pend(job("vision"), 2),
            "tenant vision has 9 jobs that wait, and this submission adds 2; the limit is 10");
  EXPECT_EQ(pend(job(), 2), "");
}

TEST_F(AdmissionTest, SubmissionsAMinuteAreCountedAndComeBackEvenly) {
  set(LimitScope::User, "ann", {.submissions = 3});
  for (int i = 0; i < 3; ++i) EXPECT_EQ(submit(job(), at(0)), "");
  EXPECT_EQ(submit(job(), at(0)),
            "user ann may make 3 submissions a minute, and has made them; try again in 20 s");
  EXPECT_NE(submit(job(), at(19)), "");
  EXPECT_EQ(submit(job(), at(20)), "");
  EXPECT_NE(submit(job(), at(20)), "");
  EXPECT_EQ(submit(job(), at(20), kChief), "");
}

TEST_F(AdmissionTest, WhatTheTenantRefusesIsNotCountedForTheUser) {
  set(LimitScope::User, "ann", {.submissions = 2});
  set(LimitScope::Tenant, "vision", {.submissions = 0});
  for (int i = 0; i < 5; ++i) EXPECT_NE(submit(job("vision"), at(0)), "");
  EXPECT_EQ(submit(job(), at(0)), "");
  EXPECT_EQ(submit(job(), at(0)), "");
}

}  // namespace
}  // namespace orrery
