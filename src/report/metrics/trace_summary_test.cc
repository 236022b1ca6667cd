#include "report/metrics/trace_summary.h"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>
#include <sstream>

namespace orrery {
namespace {

JobSpec job(double submit_s, int gpus, double duration_s, NameId user = kNoName) {
  JobSpec spec;
  spec.submitted = time_from_seconds(submit_s);
  spec.gpus = gpus;
  spec.iterations = duration_s;
  spec.iteration_s = 1;
  spec.user = user;
  return spec;
}

Workload workload() {
  Workload result;
  result.name = "log";
  result.format = "helios";
  result.names = {"ann", "bob"};
  result.jobs = {job(100, 1, 5, NameId{0}), job(100, 8, 3600, NameId{1}),
                 job(1000, 3, 600, NameId{0}), job(7300, 8, 7200, NameId{0})};
  result.jobs[1].cpu_milli = 8000;
  result.oddities = {{"never ran", 1234, 17, true},
                     {"asks for part of a GPU; given a whole one", 3, 9, false}};
  return result;
}

TEST(TraceSummary, AddsUpWhatTheJobsAskFor) {
  const TraceSummary summary = summarise(workload());
  EXPECT_EQ(summary.jobs, 4);
  EXPECT_EQ(summary.first_submit_s, 100);
  EXPECT_EQ(summary.span_s, 7200);
  const double hours = (5 + 8 * 3600 + 3 * 600 + 8 * 7200) / 3600.0;
  EXPECT_NEAR(summary.gpu_hours, hours, 1e-9);
  EXPECT_NEAR(summary.load_gpus.value(), hours / 2, 1e-9);
  EXPECT_EQ(summary.users, 2);
  EXPECT_NEAR(summary.busiest_user_part.value(), (5 + 3 * 600 + 8 * 7200) / 3600.0 / hours, 1e-9);
  EXPECT_EQ(summary.with_cpus, 1);
  EXPECT_EQ(summary.with_memory, 0);
}

TEST(TraceSummary, ThePeakIsThatOfJobsThatOverlap) {
  EXPECT_EQ(summarise(workload()).peak_gpus, 11);
  Workload after = workload();
  after.jobs = {job(0, 4, 10), job(10, 5, 10)};
  EXPECT_EQ(summarise(after).peak_gpus, 5)
      << "a job that ends frees its GPUs for one that starts then";
}

TEST(TraceSummary, EveryJobIsInOneSizeAndOneDuration) {
  const TraceSummary summary = summarise(workload());
  ASSERT_EQ(summary.sizes.size(), 3u);
  EXPECT_EQ(summary.sizes[1].above, 2);
  EXPECT_EQ(summary.sizes[1].up_to, 4);
  EXPECT_EQ(summary.sizes[2].jobs, 2);
  std::int64_t jobs = 0;
  double hours = 0;
  for (const auto& part : summary.durations) {
    jobs += part.jobs;
    hours += part.gpu_hours;
  }
  EXPECT_EQ(jobs, 4);
  EXPECT_NEAR(hours, summary.gpu_hours, 1e-9);
  EXPECT_EQ(summary.min_s, 5);
  EXPECT_EQ(summary.p50_s, 600);
  EXPECT_EQ(summary.p99_s, 7200);
}

TEST(TraceSummary, JobsThatComeAtOnceHaveNoLoad) {
  Workload at_once = workload();
  at_once.jobs = {job(5, 1, 10), job(5, 2, 10)};
  const TraceSummary summary = summarise(at_once);
  EXPECT_FALSE(summary.load_gpus);
  EXPECT_NE(to_text(summary, 80).find("all jobs come at once"), std::string::npos);
  EXPECT_TRUE(nlohmann::json::parse(to_json(summary))["load_gpus"].is_null());
}

TEST(TraceSummary, TheTextFitsATerminalAndNamesOddities) {
  const std::string text = to_text(summarise(workload()), 80);
  std::istringstream lines(text);
  for (std::string line; std::getline(lines, line);) EXPECT_LE(line.size(), 80u) << line;
  EXPECT_NE(text.find("log, format helios"), std::string::npos) << text;
  EXPECT_NE(text.find("1,234"), std::string::npos) << text;
  EXPECT_NE(text.find("left out: never ran (first at line 17)"), std::string::npos) << text;
  EXPECT_NE(text.find("kept: asks for part of a GPU"), std::string::npos) << text;
}

TEST(TraceSummary, JsonHasTheSame) {
  const auto json = nlohmann::json::parse(to_json(summarise(workload())));
  EXPECT_EQ(json["format"], "helios");
  EXPECT_EQ(json["jobs"], 4);
  EXPECT_EQ(json["sizes"].size(), 3u);
  EXPECT_EQ(json["duration_s"]["max"], 7200);
  EXPECT_EQ(json["oddities"][0]["what"], "never ran");
  EXPECT_EQ(json["oddities"][0]["left_out"], true);
}

TEST(TraceSummary, OneLineSaysHowMuchWasOdd) {
  EXPECT_EQ(oddities_line(workload()), "1,234 jobs left out, 3 oddities in the others");
  Workload clean = workload();
  clean.oddities.clear();
  EXPECT_EQ(oddities_line(clean), "");
}

}  // namespace
}  // namespace orrery
