#include "experiments/star/two_jobs.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>

#include "base/files.h"

namespace orrery {
namespace {

RunResult a_run(double to_target_s) {
  RunResult result;
  result.time_to_target_s = to_target_s;
  return result;
}
RunResult b_run(double training_s) {
  RunResult result;
  result.training_s = training_s;
  return result;
}

TwoJobsResults give(double a_with, double b_with) {
  TwoJobsResults results;
  for (const TwoJobsRun& run : two_jobs_runs(3, "")) {
    TwoJobsResult& result = results[run.name()];
    const bool with = run.arm == TwoJobsArm::With;
    const bool alone = run.arm == TwoJobsArm::AloneA;
    if (run.has_a()) result.a = a_run(alone ? 20 : with ? a_with : 40);
    if (run.has_b()) result.b = b_run(with ? b_with : 50);
  }
  return results;
}

TEST(TwoJobs, BothClaimsCanHoldAndFail) {
  const auto runs = two_jobs_runs(3, "");
  const TwoJobsVerdict good = judge_two_jobs(runs, give(25, 52));
  EXPECT_TRUE(good.a_is_faster.value());
  EXPECT_TRUE(good.total_no_worse.value());
  EXPECT_DOUBLE_EQ(good.rows[3].a_slowdown.value(), 1.25);
  EXPECT_DOUBLE_EQ(good.rows[3].total.value(), 1.25 + 52.0 / 50);
  const TwoJobsVerdict costly = judge_two_jobs(runs, give(38, 80));
  EXPECT_TRUE(costly.a_is_faster.value());
  EXPECT_FALSE(costly.total_no_worse.value());
  EXPECT_FALSE(judge_two_jobs(runs, give(41, 50)).a_is_faster.value());
}

TEST(TwoJobs, RunsOfABusyMachineAreNotCounted) {
  const auto runs = two_jobs_runs(3, "");
  TwoJobsResults results = give(25, 50);
  for (auto& [name, result] : results) {
    if (name.find("two-jobs-with-") != std::string::npos)
      result.b->load = MachineLoad{.trusted = false};
  }
  const TwoJobsVerdict judged = judge_two_jobs(runs, results);
  EXPECT_FALSE(judged.a_is_faster.has_value());
  EXPECT_EQ(judged.rows[3].untrusted, 3);
  EXPECT_NE(two_jobs_text(judged).find("not run"), std::string::npos);
}

TEST(TwoJobs, AServerProcessThatFailsIsAProblemOfTheRunAndNothingHangs) {
  const std::filesystem::path folder =
      std::filesystem::path(testing::TempDir()) / ("two-jobs" + std::to_string(getpid()));
  std::filesystem::remove_all(folder);
  auto runs = two_jobs_runs(1, "with-s1");
  ASSERT_EQ(runs.size(), 1u);
  const std::atomic<bool> stop = false;
  const auto results =
      run_two_jobs(runs, {.program = "/bin/false", .folder = folder}, stop, [] {}).value();
  EXPECT_NE(results.begin()->second.a->problem.find("the servers ended"), std::string::npos);
  // What was run is not run again.
  for (const char* const job : {"a.json", "b.json"}) {
    ASSERT_TRUE(write_file_atomically(folder / runs[0].name() / job,
                                      R"({"time_to_target_s":12.5,"training_s":3})")
                    .ok());
  }
  const auto kept =
      run_two_jobs(runs, {.program = "/bin/false", .folder = folder}, stop, [] {}).value();
  EXPECT_EQ(kept.begin()->second.a->time_to_target_s, 12.5);
  std::filesystem::remove_all(folder);
}

}  // namespace
}  // namespace orrery
