#include "training/colocation/shared_servers.h"

#include <gtest/gtest.h>

#include <limits>

#include "base/random.h"

namespace orrery {
namespace {

constexpr JobId kFirst{1}, kSecond{2};

// Four servers of 0.3 cores.
SharedServers servers(bool considers = true) {
  const std::vector<Load> capacities(4, Load{.cpu = 0.3});
  return SharedServers(capacities, {.considers = considers});
}

// Four workers and a shard.
std::vector<TaskRequest> requests(double worker = 0.1, double shard = 0.1) {
  std::vector<TaskRequest> all(4, TaskRequest{.limit = {.cpu = worker}});
  all.push_back({.makes_updates = true, .limit = {.cpu = shard}});
  return all;
}

JobReport report(double left_s, double task_s = 1) {
  return {.left_s = left_s, .task_s = {task_s, task_s, task_s, task_s, 0}};
}

Load held(const SharedServers& shared, int server) { return shared.book().held(ServerId{server}); }

TEST(SharedServers, JobsAreSpreadOverServersAndParameterServersStandApart) {
  SharedServers shared = servers();
  const auto first = shared.admit(kFirst, requests()).value().places;
  const auto second = shared.admit(kSecond, requests()).value().places;
  EXPECT_NE(first[4].server, second[4].server);
  for (int i = 0; i < 4; ++i) EXPECT_LE(held(shared, i).cpu, 0.3 + 1e-9);
  for (const TaskPlace& place : first) EXPECT_DOUBLE_EQ(place.limit.cpu, 0.1);
}

TEST(SharedServers, AJobThatFindsTooLittleCapacityGetsWhatIsLeft) {
  SharedServers shared = servers();
  ASSERT_TRUE(shared.admit(kFirst, requests(0.2, 0.2)).ok());
  const auto second = shared.admit(kSecond, requests(0.1, 0.1)).value().places;
  double all = 0;
  for (const TaskPlace& place : second) all += place.limit.cpu;
  EXPECT_NEAR(all, 4 * 0.3 - 5 * 0.2 + 0.1, 0.11) << "what is left";
  for (int i = 0; i < 4; ++i) EXPECT_LE(held(shared, i).cpu, 0.3 + 1e-9);
  const auto third = shared.admit(JobId{3}, requests(1, 1));
  ASSERT_FALSE(third.ok());
  EXPECT_EQ(third.error().code, Code::ResourceExhausted);
  EXPECT_FALSE(shared.ask({.job = JobId{3}, .rate_ratio = 2, .time_saved = 0.5}).ok());
}

TEST(SharedServers, WhatMakesNoSenseIsRefusedAndChangesNothing) {
  SharedServers shared = servers();
  EXPECT_FALSE(shared.admit(kFirst, {}).ok());
  EXPECT_FALSE(shared.admit(kFirst, requests(-1)).ok());
  EXPECT_FALSE(shared.admit(kFirst, requests(std::numeric_limits<double>::quiet_NaN())).ok());
  ASSERT_TRUE(shared.admit(kFirst, requests()).ok());
  EXPECT_FALSE(shared.admit(kFirst, requests()).ok()) << "twice";
  const std::vector<Load> linked(2, Load{.cpu = 1, .in = 1e6, .out = 1e6});
  EXPECT_FALSE(SharedServers(linked, {}).admit(kFirst, requests()).ok())
      << "no rate is not no link";
  JobReport bad = report(10);
  bad.task_s.pop_back();
  EXPECT_FALSE(shared.report(kFirst, bad).ok());
  bad = report(std::numeric_limits<double>::infinity());
  EXPECT_FALSE(shared.report(kFirst, bad).ok());
  EXPECT_FALSE(shared.report(kSecond, report(10)).ok()) << "a stranger";
  EXPECT_FALSE(shared.ask({.job = kFirst, .rate_ratio = -2, .time_saved = 0.5}).ok());
  EXPECT_GT(shared.book().find(kFirst)->left_s, 1e5) << "not known";
}

// Both are in; the first has much left to do and straggles.
SharedServers two_jobs(bool considers) {
  SharedServers shared = servers(considers);
  EXPECT_TRUE(shared.admit(kFirst, requests()).ok());
  EXPECT_TRUE(shared.admit(kSecond, requests()).ok());
  for (int i = 0; i < 3; ++i) {
    EXPECT_TRUE(shared.report(kFirst, report(100)).ok());
    EXPECT_TRUE(shared.report(kSecond, report(20)).ok());
  }
  return shared;
}
constexpr LooserMode kRequest{.job = kFirst, .rate_ratio = 1.5, .time_saved = 1.0 / 3};

TEST(SharedServers, ALooserModeTakesFromTheOthersAndGivesItBackWhenTheRunLeaves) {
  for (const bool leaves : {false, true}) {
    SharedServers shared = two_jobs(true);
    const Consideration decided = shared.ask(kRequest).value();
    ASSERT_TRUE(decided.granted) << decided.reason;
    EXPECT_NEAR(shared.book().find(kFirst)->tasks[4].limit.cpu, 0.15, 1e-9);
    EXPECT_TRUE(shared.book().has_lent(kSecond));
    const auto back = leaves ? shared.leave(kFirst) : shared.give_back(kFirst);
    for (const LimitChange& change : back) EXPECT_TRUE(!leaves || change.job == kSecond);
    for (const BookedTask& task : shared.book().find(kSecond)->tasks) {
      EXPECT_NEAR(task.limit.cpu, 0.1, 1e-9);
    }
  }
}

TEST(SharedServers, WithoutConsiderationAllIsGrantedAndNothingMoves) {
  SharedServers shared = two_jobs(false);
  const Consideration decided =
      shared.ask({.job = kFirst, .rate_ratio = 50, .time_saved = 0.01}).value();
  EXPECT_TRUE(decided.granted);
  EXPECT_TRUE(decided.changes.empty());
  EXPECT_TRUE(shared.give_back(kFirst).empty());
  EXPECT_DOUBLE_EQ(shared.book().find(kFirst)->tasks[4].limit.cpu, 0.1);
}

TEST(SharedServers, AnUnknownNeedIsGrantedWhereItHarmsNoOtherJob) {
  SharedServers shared = two_jobs(true);
  const Consideration decided =
      shared.ask({.job = kFirst, .rate_ratio = 40, .time_saved = 0.9}).value();
  EXPECT_TRUE(decided.granted);
  EXPECT_FALSE(shared.ask({.job = kFirst, .rate_ratio = 40, .time_saved = 0.01}).value().granted);
}

TEST(SharedServers, WhatAParameterServerReallyTakesDecidesWhatItNeeds) {
  SharedServers shared = two_jobs(true);
  JobReport light = report(100);
  light.rate_ratio = 1;
  light.used = {.cpu = 0.017};
  ASSERT_TRUE(shared.report(kFirst, light).ok());
  const Consideration decided =
      shared.ask({.job = kFirst, .rate_ratio = 4, .time_saved = 0.5}).value();
  EXPECT_TRUE(decided.granted);
  EXPECT_TRUE(decided.changes.empty()) << "four times 0.017 are 68 % of its 0.1";
}

TEST(SharedServers, ATaskThatMakesUpdatesNeedsMoreThanItUses) {
  SharedServers shared = servers();
  ASSERT_TRUE(shared.admit(kFirst, requests()).ok());
  JobReport full = report(100);
  full.rate_ratio = 1;
  full.used = {.cpu = 0.07};
  ASSERT_TRUE(shared.report(kFirst, full).ok());
  ASSERT_TRUE(shared.ask({.job = kFirst, .rate_ratio = 2, .time_saved = 0.5}).value().granted);
  EXPECT_NEAR(shared.book().find(kFirst)->tasks[4].limit.cpu, 2 * 0.07 / 0.7, 1e-9);
}

TEST(SharedServers, AModeThatIsNotWorthWhatOthersLoseIsGrantedWithinItsOwnLimits) {
  SharedServers shared = two_jobs(true);
  JobReport heavy = report(30);
  heavy.rate_ratio = 1;
  heavy.used = {.cpu = 0.7 * 0.06};
  ASSERT_TRUE(shared.report(kFirst, heavy).ok());
  ASSERT_TRUE(shared.report(kSecond, report(10'000)).ok());
  // With 0.06 for what it uses, its limit allows 0.1 / 0.06 of the gradients of SSGD, so 20 % of
  // the time are saved.
  const LooserMode request{.job = kFirst, .rate_ratio = 2, .time_saved = 1 - 0.4 / 0.6};
  const Consideration decided = shared.ask(request).value();
  EXPECT_TRUE(decided.granted);
  EXPECT_TRUE(decided.changes.empty());
  EXPECT_NEAR(decided.gain_s, 0.2 * 30, 1e-9);
  EXPECT_FALSE(shared.book().has_lent(kSecond));

  heavy.used = {.cpu = 0.7 * 0.1};
  for (int i = 0; i < 200; ++i) ASSERT_TRUE(shared.report(kFirst, heavy).ok());
  EXPECT_FALSE(shared.ask(request).value().granted) << "it is at its limit already";
}

TEST(SharedServers, GrantsOfOthersAreReconsideredWhenAJobComes) {
  SharedServers shared = servers();
  ASSERT_TRUE(shared.admit(kFirst, requests()).ok());
  for (int i = 0; i < 3; ++i) ASSERT_TRUE(shared.report(kFirst, report(100)).ok());
  ASSERT_TRUE(shared.ask({.job = kFirst, .rate_ratio = 2, .time_saved = 0.5}).value().granted);
  EXPECT_NEAR(shared.book().find(kFirst)->tasks[4].limit.cpu, 0.2, 1e-9)
      << "the server has capacity";
  const Admission second = shared.admit(kSecond, requests()).value();
  for (const TaskPlace& place : second.places) EXPECT_NEAR(place.limit.cpu, 0.1, 1e-9);
  for (int i = 0; i < 4; ++i) EXPECT_LE(held(shared, i).cpu, 0.3 + 1e-9);
  ASSERT_EQ(second.changes.size(), 1u) << "a job that has not begun gives nothing";
  EXPECT_NEAR(second.changes[0].limit.cpu, 0.1, 1e-9);

  // Once the second says how it is, the first's request is considered again.
  JobReport waits = report(20);
  waits.task_s = {1, 1, 1, 3, 0};
  ASSERT_TRUE(shared.report(kSecond, waits).ok());
  std::size_t moved = 0;
  for (int i = 0; i < 10; ++i) moved += shared.report(kFirst, report(100)).value().size();
  EXPECT_EQ(moved, 2u) << "once, and then it stays";
  EXPECT_GT(shared.book().find(kFirst)->tasks[4].limit.cpu, 0.12);
  EXPECT_TRUE(shared.book().has_lent(kSecond));
}

TEST(SharedServers, HowMuchACutHurtsIsLearnedFromTheTasksThatWereCut) {
  SharedServers shared = two_jobs(true);
  ASSERT_TRUE(shared.ask(kRequest).value().granted);
  const double before = shared.book().find(kSecond)->sensitivity.sensitivity();
  // Its tasks do not become longer though something was taken from one of them.
  for (int i = 0; i < 30; ++i) ASSERT_TRUE(shared.report(kSecond, report(20)).ok());
  EXPECT_LT(shared.book().find(kSecond)->sensitivity.sensitivity(), 0.5 * before);
}

TEST(SharedServers, WhateverRunsDoLimitsStayWithinServersAndComeBack) {
  Random random(11);
  SharedServers shared = servers();
  std::map<JobId, std::vector<Load>> first;
  for (int step = 0; step < 2000; ++step) {
    const JobId job{static_cast<int>(random.between(0, 4))};
    if (!first.contains(job)) {
      const auto in = shared.admit(job, requests(0.02 + 0.08 * random.uniform(), 0.05));
      if (!in.ok()) continue;
      for (const TaskPlace& place : in.value().places) first[job].push_back(place.limit);
    } else if (const auto what = random.between(0, 7); what == 0) {
      shared.leave(job);
      first.erase(job);
    } else if (what == 1) {
      shared.give_back(job);
    } else if (what < 5) {
      ASSERT_TRUE(shared.report(job, report(100 * random.uniform(), random.uniform())).ok());
    } else {
      ASSERT_TRUE(
          shared.ask({.job = job, .rate_ratio = 1 + 3 * random.uniform(), .time_saved = 0.7}).ok());
    }
    for (int i = 0; i < 4; ++i) ASSERT_LE(held(shared, i).cpu, 0.3 + 1e-6);
  }
  for (const auto& [job, limits] : first) shared.give_back(job);
  for (const auto& [job, limits] : first) {
    const BookedJob* const booked = shared.book().find(job);
    for (std::size_t i = 0; i < limits.size(); ++i) {
      EXPECT_NEAR(booked->tasks[i].limit.cpu, limits[i].cpu, 1e-6);
    }
  }
}

}  // namespace
}  // namespace orrery
