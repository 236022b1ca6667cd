#include "report/metrics/job_comparison.h"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "report/json.h"
#include "report/table.h"

namespace orrery {
namespace {

using std::chrono::seconds;

// A run whose jobs, all submitted at 100 s, took these numbers of seconds; 0: the job was rejected.
ReportRun run_of(const std::string& policy, const std::vector<int>& times_s) {
  Workload workload;
  ReportRun run;
  run.summary.trace = "t";
  run.summary.policy = policy;
  run.summary.gpus = 8;
  double sum_s = 0;
  for (const int time_s : times_s) {
    workload.jobs.emplace_back().submitted = Time(seconds(100));
    run.completion_times.push_back(time_s > 0 ? Duration(seconds(time_s)) : kNotCompleted);
    run.summary.completed += time_s > 0;
    run.summary.rejected += time_s == 0;
    sum_s += time_s;
  }
  run.summary.jobs = static_cast<std::int64_t>(times_s.size());
  run.summary.avg_jct_s = sum_s / static_cast<double>(run.summary.completed);
  run.summary.p99_jct_s = *std::ranges::max_element(times_s);
  run.summary.makespan_s = 100.0 + *std::ranges::max_element(times_s);
  run.workload = std::make_shared<const Workload>(std::move(workload));
  return run;
}

// The longest job is refused by the second policy, which is no better for the others.
std::vector<ReportRun> unfair() {
  return {run_of("las", {10, 20, 90}), run_of("refuses", {10, 20, 0})};
}

TEST(JobComparison, IsOverTheJobsThatBothCompleted) {
  const auto summaries = compared_summaries(unfair());
  EXPECT_FALSE(summaries[0].common_jobs);
  EXPECT_EQ(summaries[1].common_jobs, 2);
  EXPECT_EQ(summaries[1].common.avg_jct_s, 15);
  EXPECT_EQ(summaries[1].first_common.avg_jct_s, 15);
  EXPECT_EQ(summaries[1].first_common.p99_jct_s, 20);
  EXPECT_EQ(summaries[1].first_common.makespan_s, 120);
  EXPECT_FALSE(completed_the_same(summaries[0], summaries[1]));
}

TEST(JobComparison, OfRunsThatCompletedTheSameJobsIsThatOfTheirOwnFigures) {
  const std::vector<ReportRun> runs = {run_of("las", {10, 0, 90}), run_of("srtf", {20, 0, 30})};
  const auto summaries = compared_summaries(runs);
  EXPECT_TRUE(completed_the_same(summaries[0], summaries[1]));
  EXPECT_EQ(summaries[1].common.avg_jct_s, summaries[1].avg_jct_s);
  EXPECT_EQ(summaries[1].first_common.makespan_s, summaries[0].makespan_s);
  EXPECT_EQ(comparison_note(summaries[0], summaries[1]), "");
}

TEST(JobComparison, WithoutACommonJobHasNoFigures) {
  const std::vector<ReportRun> runs = {run_of("a", {10, 0}), run_of("b", {0, 20})};
  const RunSummary summary = compared_summaries(runs)[1];
  EXPECT_EQ(summary.common_jobs, 0);
  EXPECT_FALSE(summary.common.avg_jct_s);
}

TEST(JobComparison, IsWithTheFirstRunOfTheSameTrace) {
  std::vector<ReportRun> runs = unfair();
  for (ReportRun run : unfair()) {
    run.summary.trace = "u";
    runs.push_back(std::move(run));
  }
  const auto summaries = compared_summaries(runs);
  EXPECT_FALSE(summaries[2].common_jobs);
  EXPECT_EQ(summaries[3].common_jobs, 2);
}

TEST(JobComparison, TheTableComparesFairlyAndSaysOverWhichJobs) {
  const std::string text = table(compared_summaries(unfair()), {.width = 150});
  EXPECT_EQ(text.find("better"), std::string::npos) << text;
  EXPECT_NE(text.find("same"), std::string::npos) << text;
  EXPECT_NE(text.find("refuses vs las: over the 2 jobs that both completed; las completed all 3; "
                      "refuses rejected 1"),
            std::string::npos)
      << text;
  const std::string narrow = table(compared_summaries(unfair()), {.width = 40});
  for (std::size_t at = 0; at < narrow.size();) {
    const std::size_t end = narrow.find('\n', at);
    EXPECT_LE(end - at, 40U) << narrow;
    at = end + 1;
  }
}

TEST(JobComparison, AFigureThatARunDoesNotHaveIsNotCompared) {
  std::vector<ReportRun> runs = unfair();
  runs[1].summary.status = RunStatus::Interrupted;
  runs[1].summary.avg_jct_s.reset();
  runs[1].summary.p99_jct_s.reset();
  runs[1].summary.makespan_s.reset();
  const std::string text = table(compared_summaries(runs), {.width = 150});
  EXPECT_EQ(text.find("same"), std::string::npos) << text;
}

TEST(JobComparison, ARunThatWasNotCompleteSaysSo) {
  std::vector<ReportRun> runs = unfair();
  runs[0].summary.status = RunStatus::Interrupted;
  runs[0].summary.left = 5;
  ReportRun never;
  never.summary.trace = "t";
  never.summary.policy = "never";
  never.summary.status = RunStatus::NotRun;
  runs.push_back(never);
  const std::string text = table(compared_summaries(runs), {.width = 150});
  EXPECT_NE(text.find("interrupted"), std::string::npos) << text;
  EXPECT_NE(text.find("not run"), std::string::npos) << text;
  EXPECT_NE(text.find("las left 5"), std::string::npos) << text;
  const auto json = nlohmann::json::parse(to_json(compared_summaries(runs))).at("runs");
  EXPECT_EQ(json.at(0).at("status"), "interrupted");
  EXPECT_EQ(json.at(0).at("left"), 5);
  EXPECT_EQ(json.at(2).at("status"), "not run");
  for (const char* key :
       {"jobs", "completed", "rejected", "starts", "events", "left", "avg_jct_s"}) {
    EXPECT_TRUE(json.at(2).at(key).is_null()) << key;
  }
}

}  // namespace
}  // namespace orrery
