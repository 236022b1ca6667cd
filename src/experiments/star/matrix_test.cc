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

std::vector<MatrixRun> cell(std::string_view pattern) {
  std::vector<MatrixRun> all = choose_runs({.seeds = 3}).value();
  std::erase_if(all, [&](const MatrixRun& run) {
    return run.architecture != "ps" || run.pattern->name != pattern ||
           run.workload != &matrix_workloads()[0];
  });
  return all;
}

RunResults give(const std::vector<MatrixRun>& runs, const std::map<std::string, double>& times,
                double other) {
  RunResults results;
  for (const MatrixRun& run : runs) {
    RunResult result;
    const auto found = times.find(std::string(run.mode->name));
    result.time_to_target_s = found == times.end() ? other : found->second;
    result.final_accuracy = 0.95;
    results[run.name()] = result;
  }
  return results;
}

const CellClaim& claim(const CellVerdict& cell, std::string_view what) {
  for (const CellClaim& claim : cell.claims) {
    if (claim.what.find(what) != std::string::npos) return claim;
  }
  ADD_FAILURE() << "no claim with " << what;
  return cell.claims.front();
}

TEST(StarMatrix, EveryRunHasANameOfItsOwn) {
  const std::vector<MatrixRun> runs = choose_runs({}).value();
  std::map<std::string, int> names;
  for (const MatrixRun& run : runs) ++names[run.name()];
  EXPECT_EQ(names.size(), runs.size());
  EXPECT_GT(runs.size(), 300u);
}

TEST(StarMatrix, AChoiceThatNamesNoRunSaysHowRunsAreCalled) {
  EXPECT_FALSE(choose_runs({.only = "resnet-900"}).ok());
  EXPECT_FALSE(choose_runs({.figure = "fig7"}).ok());
}

TEST(StarMatrix, AClaimHoldsWhereTheFiguresAllowIt) {
  const auto runs = cell("one-slow");
  const auto judged = judge_matrix(runs, give(runs, {{"ssgd", 100}, {"star", 40}}, 45));
  ASSERT_EQ(judged.size(), 1u);
  EXPECT_TRUE(judged[0].lowest);
  for (const CellClaim& made : judged[0].claims) EXPECT_TRUE(made.holds.value()) << made.what;
}

TEST(StarMatrix, TheMachinesSpeedIsReportedAndNotJudged) {
  const auto runs = cell("none");
  RunResults results = give(runs, {{"ssgd", 10}, {"star", 12}}, 45);
  for (const MatrixRun& run : runs) {
    RunResult& result = results[run.name()];
    result.tally.counts.gradients = result.workers = 1;
    result.worker_cpu_s = run.mode->name == "star" ? 0.006 : 0.005;
  }
  const CellClaim made = claim(judge_matrix(runs, results).at(0), "5 % of ssgd");
  EXPECT_FALSE(*made.holds);
  EXPECT_EQ(made.figures, "star 12.0 s, ssgd 10.0 s: +20.0 % (+0.0 % at equal CPU a gradient)");
}

TEST(StarMatrix, EachBarCanBeMissed) {
  const auto runs = cell("one-slow");
  const auto with = [&](const std::map<std::string, double>& times, double other) {
    return judge_matrix(runs, give(runs, times, other)).at(0);
  };
  EXPECT_FALSE(*claim(with({{"ssgd", 100}, {"star", 53}}, 60), "48 %").holds);
  EXPECT_TRUE(*claim(with({{"ssgd", 100}, {"star", 52}}, 60), "48 %").holds);
  EXPECT_FALSE(*claim(with({{"asgd", 40}, {"star", 47}}, 60), "best fixed").holds);
  EXPECT_FALSE(*claim(with({{"lb-bsp", 40}, {"star", 43}}, 60), "rival").holds);
  EXPECT_TRUE(*claim(with({{"lb-bsp", 40}, {"star", 42}}, 60), "rival").holds);
}

TEST(StarMatrix, AMiddleRunThatDoesNotReachTheTargetIsLongerThanAny) {
  const auto runs = cell("one-slow");
  RunResults results = give(runs, {}, 50);
  for (auto& [name, result] : results) {
    if (name.find("-star-s1") != std::string::npos || name.find("-star-s2") != std::string::npos) {
      result.time_to_target_s.reset();
    }
  }
  const CellVerdict judged = judge_matrix(runs, results).at(0);
  EXPECT_FALSE(judged.lowest);
  EXPECT_FALSE(*claim(judged, "best fixed").holds);
}

TEST(StarMatrix, RunsOfABusyMachineAreNotCountedAndMissingOnesDecideNothing) {
  const auto runs = cell("none");
  RunResults results = give(runs, {}, 50);
  for (auto& [name, result] : results) {
    if (name.find("-star-") != std::string::npos) result.load = MachineLoad{.trusted = false};
  }
  const CellVerdict judged = judge_matrix(runs, results).at(0);
  EXPECT_FALSE(claim(judged, "within 5 %").holds.has_value());
}

TEST(StarMatrix, ResultsAreReadAndOtherTextIsRefused) {
  EXPECT_FALSE(parse_result("{}").ok());
  EXPECT_FALSE(parse_result("not json").ok());
  const auto missed = parse_result(R"({"time_to_target_s":null,"trusted":false})").value();
  EXPECT_FALSE(missed.time_to_target_s.has_value());
  EXPECT_FALSE(missed.trusted());
  EXPECT_EQ(missed.task_cpu_s(), 0);
  const auto reached =
      parse_result(R"({"time_to_target_s":9,"worker_cpu_s":1.5,"workers":8,"gradients":3000})")
          .value();
  EXPECT_DOUBLE_EQ(reached.task_cpu_s(), 0.004);
  const auto points = parse_curve("time_s,version,accuracy\n1.5,3,0.5\n2.5,9,0.75\n").value();
  ASSERT_EQ(points.size(), 2u);
  EXPECT_EQ(points[1].second, 0.75);
  EXPECT_FALSE(parse_curve("a,b\n1,2\n").ok());
}

TEST(StarMatrix, AFinishedRunIsNotRepeatedAndFailuresAreReported) {
  const std::filesystem::path folder =
      std::filesystem::path(testing::TempDir()) / ("runs" + std::to_string(getpid()));
  std::filesystem::remove_all(folder);
  auto runs = cell("none");
  runs.resize(1);
  const std::atomic<bool> stop = false;
  int done = 0;
  const auto count = [&](const MatrixRun&) { ++done; };
  auto results = run_matrix(runs, {.program = "/bin/false", .folder = folder}, stop, count).value();
  EXPECT_NE(results.begin()->second.problem.find("exit code 1"), std::string::npos);
  ASSERT_TRUE(write_file_atomically(folder / runs[0].name() / "result.json",
                                    R"({"time_to_target_s":12.5,"trusted":true})")
                  .ok());
  results = run_matrix(runs, {.program = "/bin/false", .folder = folder}, stop, count).value();
  EXPECT_EQ(results.begin()->second.time_to_target_s, 12.5);
  EXPECT_EQ(done, 2);
  std::filesystem::remove_all(folder);
}

TEST(StarMatrix, SeveralAtOnceAreEachRunOnce) {
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
  const auto runs = cell("none");
  const std::atomic<bool> stop = false;
  std::set<std::string> done;
  const auto results = run_matrix(runs, {.program = program, .folder = folder, .at_once = 4}, stop,
                                  [&](const MatrixRun& run) { done.insert(run.name()); })
                           .value();
  EXPECT_EQ(results.size(), runs.size());
  EXPECT_EQ(done.size(), runs.size());
  EXPECT_EQ(read_file(folder / "runs").value().size(), 2 * runs.size());
  std::filesystem::remove_all(folder);
}

TEST(StarMatrix, AStopReachesTheRunAndOthersHaveNoResult) {
  const std::filesystem::path folder =
      std::filesystem::path(testing::TempDir()) / ("stopped" + std::to_string(getpid()));
  std::filesystem::remove_all(folder);
  std::filesystem::create_directories(folder);
  const std::string program = folder / "endless";
  ASSERT_TRUE(write_file_atomically(program, "#!/bin/sh\nexec tail -f /dev/null\n").ok());
  std::filesystem::permissions(program, std::filesystem::perms::owner_all);
  auto runs = cell("none");
  runs.resize(2);
  const std::atomic<bool> stop = true;
  std::atomic<bool> now = false;
  EXPECT_TRUE(
      run_matrix(runs, {.program = program, .folder = folder}, stop, [](const MatrixRun&) {})
          .value()
          .empty());
  std::jthread stopper([&] {
    while (!std::filesystem::exists(folder / runs[0].name() / "log.txt")) std::this_thread::yield();
    now = true;
  });
  EXPECT_TRUE(run_matrix(runs, {.program = program, .folder = folder}, now, [](const MatrixRun&) {})
                  .value()
                  .empty());
  std::filesystem::remove_all(folder);
}

}  // namespace
}  // namespace orrery
