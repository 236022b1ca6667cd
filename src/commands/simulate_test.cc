#include "commands/simulate.h"

#include <gtest/gtest.h>

#include <fstream>

#include "base/test_folder.h"

namespace orrery {
namespace {

SimulateArguments arguments() {
  return {.traces = {"philly-like:jobs=20,seed=1"},
          .policies = {"fifo", "las:limits=1h"},
          .clusters = {"2x4"},
          .quiet = true};
}

std::vector<RunRequest> requests(const SimulateArguments& asked, std::int64_t drawn = 0) {
  auto made = simulate_requests(asked, drawn);
  EXPECT_TRUE(made.ok()) << made.error().message;
  return made.ok() ? std::move(made).value() : std::vector<RunRequest>();
}

std::string problem(const SimulateArguments& asked) {
  const auto made = simulate_requests(asked);
  return made.ok() ? "" : made.error().message;
}

TEST(SimulateRequests, ARunForEachTracePolicyAndSeed) {
  SimulateArguments asked = arguments();
  asked.traces.push_back("philly-like:jobs=10,seed=2");
  asked.seeds = {3, 4};
  const auto made = requests(asked);
  ASSERT_EQ(made.size(), 8U);
  EXPECT_EQ(made[0].label, "fifo #3");
  EXPECT_EQ(made[1].label, "fifo #4");
  EXPECT_EQ(made[3].label, "las:limits=1h #4");
  EXPECT_EQ(made[3].run.policy.seed, 4U);
  EXPECT_EQ(made[3].run.policy.options.at("limits"), "1h");
  EXPECT_EQ(made[0].workload, made[3].workload) << "a trace is read once";
  EXPECT_NE(made[3].workload, made[4].workload);
  EXPECT_NE(made[3].workload->name, made[4].workload->name);
}

TEST(SimulateRequests, DefaultsAreOurWorldAndRoundsAtOnce) {
  const auto made = requests(arguments());
  ASSERT_EQ(made.size(), 2U);
  EXPECT_EQ(made[0].run, (RunDescription{.policy = {.name = "fifo"}}));
  EXPECT_EQ(made[0].label, "fifo") << "one seed has no number";
  EXPECT_FALSE(made[0].series);
  EXPECT_TRUE(made[0].events.empty());
}

TEST(SimulateRequests, TheCallReachesEveryRun) {
  SimulateArguments asked = arguments();
  asked.semantics = "muri";
  asked.speed_error = 0.2;
  asked.round = "60s";
  asked.window = "2-12";
  asked.report = "/tmp/no-such-page.html";
  for (const RunRequest& request : requests(asked)) {
    EXPECT_EQ(request.run.semantics, SemanticsKind::Muri);
    EXPECT_EQ(request.run.speed_error, 0.2);
    EXPECT_EQ(request.run.policy.round, std::chrono::minutes(1));
    EXPECT_EQ(request.run.window, (JobWindow{JobId{2}, JobId{12}}));
    EXPECT_TRUE(request.series);
  }
}

TEST(SimulateRequests, ATraceWithoutEndIsMarkedIfItsLengthIsOurs) {
  SimulateArguments asked = arguments();
  asked.traces = {"synergy:seed=1", "philly-like:jobs=20,seed=1"};
  asked.policies = {"fifo"};
  EXPECT_FALSE(requests(asked)[0].goes_on);
  const auto made = requests(asked, 50);
  EXPECT_TRUE(made[0].goes_on);
  EXPECT_EQ(made[0].workload->jobs.size(), 50U);
  EXPECT_FALSE(made[1].goes_on) << "it has a number of jobs";
}

TEST(SimulateRequests, WhatCannotRunIsRefusedBeforeAnythingRuns) {
  SimulateArguments asked = arguments();
  asked.policies = {"fifo", "fifa"};
  EXPECT_NE(problem(asked).find("fifa"), std::string::npos);
  asked = arguments();
  asked.window = "0-21";
  EXPECT_NE(problem(asked).find("has only 20 jobs"), std::string::npos);
  asked = arguments();
  asked.semantics = "other";
  EXPECT_NE(problem(asked).find("there are no semantics 'other'"), std::string::npos);
  asked = arguments();
  asked.round = "soon";
  EXPECT_TRUE(problem(asked).starts_with("--round"));
}

TEST(SimulateRequests, ThePublishedWorldsKnowNoFaults) {
  const TestFolder folder;
  SimulateArguments asked = arguments();
  asked.scenario.faults = folder.file("f.csv");
  std::ofstream(asked.scenario.faults) << "node,down_s\n0,100\n";
  const auto made = requests(asked);
  ASSERT_EQ(made.size(), 2U);
  EXPECT_EQ(made[0].nodes->changes.size(), 1U);
  EXPECT_TRUE(made[0].run.faults.has_value());
  asked.semantics = "muri";
  EXPECT_NE(problem(asked).find("knows no faults"), std::string::npos);
}

TEST(SimulateRequests, JobsAreMarkedForTheSurvivalRuleOnly) {
  const TestFolder folder;
  SimulateArguments asked = arguments();
  asked.scenario.faults = folder.file("f.csv");
  asked.scenario.lasting = "1s";
  std::ofstream(asked.scenario.faults) << "node,down_s\n0,100\n";
  asked.policies = {"fifo", "fifo:placement=survival"};
  const auto made = requests(asked);
  ASSERT_EQ(made.size(), 2U);
  EXPECT_FALSE(made[0].workload->jobs[0].lasting);
  EXPECT_TRUE(made[1].workload->jobs[0].lasting);
}

TEST(SimulateRequests, NoOutputIsAnInputOrAnotherOutput) {
  SimulateArguments asked = arguments();
  asked.report = asked.events = "/tmp/orrery-no-such-file";
  asked.policies = {"fifo"};
  EXPECT_NE(problem(asked).find("writes this file"), std::string::npos);
}

TEST(Simulate, JsonAndCsvExcludeEachOther) {
  SimulateArguments asked = arguments();
  asked.json = asked.csv = true;
  const Status status = simulate_command(asked);
  ASSERT_FALSE(status.ok());
  EXPECT_EQ(status.error().code, Code::InvalidArgument);
}

}  // namespace
}  // namespace orrery
