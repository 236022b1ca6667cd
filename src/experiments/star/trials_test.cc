#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>
#include <set>
#include <thread>

#include "base/files.h"
#include "experiments/star/run.h"
#include "experiments/star/verdict.h"

namespace orrery {
namespace {

std::vector<Trial> cell(std::string_view pattern) {
  std::vector<Trial> all = choose_trials({.seeds = 3}).value();
  std::erase_if(all, [&](const Trial& trial) {
    return trial.architecture != "ps" || trial.pattern->name != pattern ||
           trial.workload != &trial_workloads()[0];
  });
  return all;
}

TrialResults give(const std::vector<Trial>& trials, const std::map<std::string, double>& times,
                  double other) {
  TrialResults results;
  for (const Trial& trial : trials) {
    TrialResult result;
    const auto found = times.find(std::string(trial.mode->name));
    result.time_to_target_s = found == times.end() ? other : found->second;
    result.final_accuracy = 0.95;
    results[trial.name()] = result;
  }
  return results;
}

const TrialClaim& claim(const CellVerdict& cell, std::string_view what) {
  for (const TrialClaim& claim : cell.claims) {
    if (claim.what.find(what) != std::string::npos) return claim;
  }
  ADD_FAILURE() << "no claim with " << what;
  return cell.claims.front();
}

TEST(Trials, EveryRunHasANameOfItsOwn) {
  const std::vector<Trial> trials = choose_trials({}).value();
  std::map<std::string, int> names;
  for (const Trial& trial : trials) ++names[trial.name()];
  EXPECT_EQ(names.size(), trials.size());
  EXPECT_GT(trials.size(), 300u);
}

TEST(Trials, AChoiceThatNamesNothingSaysHowTrialsAreCalled) {
  EXPECT_FALSE(choose_trials({.only = "resnet-900"}).ok());
  EXPECT_FALSE(choose_trials({.figure = "fig7"}).ok());
}

TEST(Trials, WhatIsAskedForHoldsWhereItDoes) {
  const auto trials = cell("one-slow");
  const auto judged = judge_trials(trials, give(trials, {{"ssgd", 100}, {"star", 40}}, 45));
  ASSERT_EQ(judged.size(), 1u);
  EXPECT_TRUE(judged[0].lowest);
  for (const TrialClaim& made : judged[0].claims) EXPECT_TRUE(made.holds.value()) << made.what;
}

TEST(Trials, WhatTheMachinesSpeedHasToDoWithItIsSaidButNotJudgedBy) {
  const auto trials = cell("none");
  TrialResults results = give(trials, {{"ssgd", 10}, {"star", 12}}, 45);
  for (const Trial& trial : trials) {
    results[trial.name()].task_cpu_s = trial.mode->name == "star" ? 0.006 : 0.005;
  }
  const TrialClaim made = claim(judge_trials(trials, results).at(0), "5 % of ssgd");
  EXPECT_FALSE(*made.holds);
  EXPECT_EQ(made.figures, "star 12.0 s, ssgd 10.0 s: +20.0 % (+0.0 % at equal CPU a gradient)");
}

TEST(Trials, EachBarCanBeMissed) {
  const auto trials = cell("one-slow");
  const auto with = [&](const std::map<std::string, double>& times, double other) {
    return judge_trials(trials, give(trials, times, other)).at(0);
  };
  EXPECT_FALSE(*claim(with({{"ssgd", 100}, {"star", 53}}, 60), "48 %").holds);
  EXPECT_TRUE(*claim(with({{"ssgd", 100}, {"star", 52}}, 60), "48 %").holds);
  EXPECT_FALSE(*claim(with({{"asgd", 40}, {"star", 47}}, 60), "best fixed").holds);
  EXPECT_FALSE(*claim(with({{"lb-bsp", 40}, {"star", 43}}, 60), "rival").holds);
  EXPECT_TRUE(*claim(with({{"lb-bsp", 40}, {"star", 42}}, 60), "rival").holds);
}

TEST(Trials, AMiddleRunThatDoesNotReachTheTargetIsLongerThanAny) {
  const auto trials = cell("one-slow");
  TrialResults results = give(trials, {}, 50);
  for (auto& [name, result] : results) {
    if (name.find("-star-s1") != std::string::npos || name.find("-star-s2") != std::string::npos) {
      result.time_to_target_s.reset();
    }
  }
  const CellVerdict judged = judge_trials(trials, results).at(0);
  EXPECT_FALSE(judged.lowest);
  EXPECT_FALSE(*claim(judged, "best fixed").holds);
}

TEST(Trials, RunsOfABusyMachineAreNotCountedAndMissingOnesDecideNothing) {
  const auto trials = cell("none");
  TrialResults results = give(trials, {}, 50);
  for (auto& [name, result] : results) {
    if (name.find("-star-") != std::string::npos) result.trusted = false;
  }
  const CellVerdict judged = judge_trials(trials, results).at(0);
  EXPECT_FALSE(claim(judged, "within 5 %").holds.has_value());
}

TEST(Trials, ResultsAreReadAndOtherTextIsRefused) {
  EXPECT_FALSE(parse_trial("{}").ok());
  EXPECT_FALSE(parse_trial("not json").ok());
  const auto missed = parse_trial(R"({"time_to_target_s":null,"trusted":false})").value();
  EXPECT_FALSE(missed.time_to_target_s.has_value());
  EXPECT_FALSE(missed.trusted);
  EXPECT_EQ(missed.task_cpu_s, 0);
  const auto reached =
      parse_trial(R"({"time_to_target_s":9,"worker_cpu_s":1.5,"workers":8,"gradients":3000})")
          .value();
  EXPECT_DOUBLE_EQ(reached.task_cpu_s, 0.004);
  const auto points = parse_curve("time_s,version,accuracy\n1.5,3,0.5\n2.5,9,0.75\n").value();
  ASSERT_EQ(points.size(), 2u);
  EXPECT_EQ(points[1].second, 0.75);
  EXPECT_FALSE(parse_curve("a,b\n1,2\n").ok());
}

TEST(Trials, WhatHasBeenRunIsNotRunAgainAndFailuresAreTold) {
  const std::filesystem::path folder =
      std::filesystem::path(testing::TempDir()) / ("trials" + std::to_string(getpid()));
  std::filesystem::remove_all(folder);
  auto trials = cell("none");
  trials.resize(1);
  const std::atomic<bool> stop = false;
  int done = 0;
  const auto count = [&](const Trial&) { ++done; };
  auto results =
      run_trials(trials, {.program = "/bin/false", .folder = folder}, stop, count).value();
  EXPECT_NE(results.begin()->second.problem.find("exit code 1"), std::string::npos);
  ASSERT_TRUE(write_file_atomically(folder / trials[0].name() / "result.json",
                                    R"({"time_to_target_s":12.5,"trusted":true})")
                  .ok());
  results = run_trials(trials, {.program = "/bin/false", .folder = folder}, stop, count).value();
  EXPECT_EQ(results.begin()->second.time_to_target_s, 12.5);
  EXPECT_EQ(done, 2);
  std::filesystem::remove_all(folder);
}

TEST(Trials, SeveralAtOnceAreEachRunOnce) {
  const std::filesystem::path folder =
      std::filesystem::path(testing::TempDir()) / ("at_once" + std::to_string(getpid()));
  std::filesystem::remove_all(folder);
  std::filesystem::create_directories(folder);
  const std::string program = folder / "counts";
  ASSERT_TRUE(
      write_file_atomically(program, "#!/bin/sh\necho x >> " + (folder / "runs").string() +
                                         "\necho '{\"time_to_target_s\":1,\"trusted\":true}'\n")
          .ok());
  std::filesystem::permissions(program, std::filesystem::perms::owner_all);
  const auto trials = cell("none");
  const std::atomic<bool> stop = false;
  std::set<std::string> told;
  const auto results = run_trials(trials, {.program = program, .folder = folder, .at_once = 4},
                                  stop, [&](const Trial& trial) { told.insert(trial.name()); })
                           .value();
  EXPECT_EQ(results.size(), trials.size());
  EXPECT_EQ(told.size(), trials.size());
  EXPECT_EQ(read_file(folder / "runs").value().size(), 2 * trials.size());
  std::filesystem::remove_all(folder);
}

TEST(Trials, AStopReachesTheRunAndWhatIsNotRunIsNoResult) {
  const std::filesystem::path folder =
      std::filesystem::path(testing::TempDir()) / ("stopped" + std::to_string(getpid()));
  std::filesystem::remove_all(folder);
  std::filesystem::create_directories(folder);
  const std::string program = folder / "endless";
  ASSERT_TRUE(write_file_atomically(program, "#!/bin/sh\nexec tail -f /dev/null\n").ok());
  std::filesystem::permissions(program, std::filesystem::perms::owner_all);
  auto trials = cell("none");
  trials.resize(2);
  const std::atomic<bool> stop = true;
  std::atomic<bool> now = false;
  EXPECT_TRUE(run_trials(trials, {.program = program, .folder = folder}, stop, [](const Trial&) {})
                  .value()
                  .empty());
  std::jthread stopper([&] {
    while (!std::filesystem::exists(folder / trials[0].name() / "log.txt"))
      std::this_thread::yield();
    now = true;
  });
  EXPECT_TRUE(run_trials(trials, {.program = program, .folder = folder}, now, [](const Trial&) {})
                  .value()
                  .empty());
  std::filesystem::remove_all(folder);
}

}  // namespace
}  // namespace orrery
