#include "experiments/sweep/sweep_runs.h"

#include <gtest/gtest.h>

#include "base/test_folder.h"
#include "experiments/sweep/sweep_page.h"
#include "experiments/sweep/sweep_results.h"
#include "experiments/sweep/sweep_statistics.h"

namespace orrery {
namespace {

const std::string kSweep = R"(
cluster = "2x4"
trace = "philly-like:jobs=30,gpus=8"
[axes]
policy = ["fifo", "srtf", "las"]
load = [0.5, 0.9]
seed = [1, 2, 3]
)";

class SweepRunsTest : public testing::Test {
 protected:
  SweepPlan plan(const std::string& text) const {
    auto parsed = parse_sweep("s.toml", text);
    EXPECT_TRUE(parsed.ok()) << parsed.error().message;
    SweepSpec spec = std::move(parsed).value();
    resolve_paths(spec, folder_.path());
    auto made = plan_sweep(spec);
    EXPECT_TRUE(made.ok()) << made.error().message;
    return made.ok() ? std::move(made).value() : SweepPlan();
  }

  SweepJournal journal(const SweepPlan& plan) const {
    auto opened = SweepJournal::open(folder_.file("sweep.journal"), sweep_identity(plan).value(),
                                     plan.points.size(), SweepJournal::Begin::Resume);
    EXPECT_TRUE(opened.ok()) << opened.error().message;
    return std::move(opened).value();
  }

  // Makes what is left. The tables.
  std::string tables(const SweepPlan& plan, int threads = 2) const {
    SweepJournal runs = journal(plan);
    const auto made = make_sweep_runs(plan, runs, {.threads = threads, .progress = false});
    EXPECT_TRUE(made.ok()) << made.error().message;
    return written(plan, runs);
  }

  std::string written(const SweepPlan& plan, const SweepJournal& runs) const {
    const auto results = SweepResults::read(plan, runs);
    EXPECT_TRUE(results.ok()) << results.error().message;
    const SweepStatistics statistics = statistics_of(plan, results.value());
    EXPECT_TRUE(write_runs_csv(folder_.file("runs.csv"), plan, results.value()).ok());
    EXPECT_TRUE(write_jobs_csv(folder_.file("jobs.csv"), runs).ok());
    EXPECT_TRUE(write_summary_csv(folder_.file("summary.csv"), plan, statistics).ok());
    return text("runs.csv") + text("jobs.csv") + text("summary.csv") +
           sweep_page(plan, statistics, "test");
  }

  std::string text(const char* name) const { return read_file(folder_.file(name)).value(); }

  std::string problem(const std::string& sweep) const {
    const SweepPlan made = plan(sweep);
    SweepJournal runs = journal(made);
    const auto done = make_sweep_runs(made, runs, {.threads = 1, .progress = false});
    return done.ok() ? "" : done.error().message;
  }

  const TestFolder folder_;
};

std::vector<std::string> lines(const std::string& text) {
  std::vector<std::string> found;
  for (std::size_t at = 0; at < text.size();) {
    const std::size_t end = text.find('\n', at);
    found.push_back(text.substr(at, end - at));
    at = end + 1;
  }
  return found;
}

TEST_F(SweepRunsTest, HasARowForEachRunAndJob) {
  const SweepPlan made = plan(kSweep);
  tables(made);
  const auto runs = lines(text("runs.csv"));
  ASSERT_EQ(runs.size(), 1U + 18);
  EXPECT_TRUE(runs[0].starts_with("run,policy,load,seed,trace,semantics,cluster,gpus,jobs,"));
  EXPECT_TRUE(runs[5].starts_with(
      "4,fifo,0.9,2,\"philly-like:jobs=30,gpus=8,load=0.9,seed=2\",orrery,2x4,8,30,30,"))
      << runs[5];
  const auto jobs = lines(text("jobs.csv"));
  ASSERT_EQ(jobs.size(), 1U + 18 * 30);
  EXPECT_TRUE(jobs[0].starts_with("run,job,user,model,gpus,duration_s,submitted_s,"));
  EXPECT_TRUE(jobs.back().starts_with("17,"));
}

TEST_F(SweepRunsTest, TheSameSweepGivesTheSameBytesOnAnyNumberOfThreads) {
  const SweepPlan made = plan(kSweep);
  const std::string one = tables(made, 1);
  ASSERT_TRUE(write_file_atomically(folder_.file("sweep.journal"), "").ok());
  EXPECT_EQ(tables(made, 4), one);
}

TEST_F(SweepRunsTest, AKilledSweepEndsWithTheSameBytes) {
  const SweepPlan made = plan(kSweep);
  const std::string whole = tables(made);
  const std::string runs = text("sweep.journal");
  // After the kill the file has some part of what was written.
  for (const std::size_t part : {1UL, 7UL, 30UL, 55UL, 80UL, 99UL}) {
    const std::string left = runs.substr(0, runs.size() * part / 100);
    ASSERT_TRUE(write_file_atomically(folder_.file("sweep.journal"), left).ok());
    EXPECT_EQ(tables(made), whole) << part << " % of the journal";
  }
}

TEST_F(SweepRunsTest, WhatIsDoneSoFarHasTables) {
  const SweepPlan made = plan(kSweep);
  tables(made);
  const std::string runs = text("sweep.journal");
  ASSERT_TRUE(
      write_file_atomically(folder_.file("sweep.journal"), runs.substr(0, runs.size() / 2)).ok());
  const SweepJournal half = journal(made);
  ASSERT_LT(half.finished(), 18U);
  written(made, half);
  EXPECT_EQ(lines(text("runs.csv")).size(), 1 + half.finished());
}

TEST_F(SweepRunsTest, AChangedFileIsAnotherSweep) {
  folder_.write("t.csv", "job_id,submit_s,gpus,duration_s\na,0,1,5\n");
  const SweepPlan made = plan("cluster = '1x8'\npolicy = 'fifo'\ntrace = 't.csv'\n");
  const std::string before = sweep_identity(made).value();
  EXPECT_EQ(sweep_inputs(made).size(), 1U);
  folder_.write("t.csv", "job_id,submit_s,gpus,duration_s\na,0,1,6\n");
  EXPECT_NE(sweep_identity(made).value(), before);
}

TEST_F(SweepRunsTest, EachTraceMayHaveItsOwnCluster) {
  const SweepPlan made = plan(R"(
policy = "fifo"
[axes]
trace = [{ trace = "philly-like:jobs=5,gpus=8", cluster = "1x8", name = "small" },
         { trace = "philly-like:jobs=5,gpus=32", cluster = "4x8", name = "large" }]
)");
  tables(made);
  const auto runs = lines(text("runs.csv"));
  ASSERT_EQ(runs.size(), 3U);
  EXPECT_TRUE(runs[1].starts_with("0,small,fifo,orrery,1x8,8,5,")) << runs[1];
  EXPECT_TRUE(runs[2].starts_with("1,large,fifo,orrery,4x8,32,5,")) << runs[2];
}

TEST_F(SweepRunsTest, APolicyThatRefusesJobsIsComparedOverThoseThatBothCompleted) {
  folder_.write("t.csv",
                "job_id,submit_s,gpus,duration_s,deadline_s\n"
                "a,0,8,100,500\nb,1,8,1000,100\nc,2,8,10,500\n");
  const SweepPlan made =
      plan("cluster = '1x8'\ntrace = 't.csv'\n[axes]\npolicy = ['fifo', 'edf-admission']\n");
  SweepJournal runs = journal(made);
  ASSERT_TRUE(make_sweep_runs(made, runs, {.threads = 1, .progress = false}).ok());
  const auto results = SweepResults::read(made, runs);
  ASSERT_TRUE(results.ok());
  EXPECT_EQ(results.value().number(1, "rejected"), 1);
  EXPECT_EQ(results.value().number(1, "common_jobs"), 2);
  EXPECT_EQ(results.value().number(0, "common_jobs"), std::nullopt);
  const SweepStatistics statistics = statistics_of(made, results.value());
  const SweepFigure* figure = statistics.groups[1].figure("avg_jct_s");
  ASSERT_NE(figure, nullptr);
  EXPECT_EQ(figure->pairs, 1U);
  const double theirs = *results.value().number(1, "first_common_avg_jct_s");
  EXPECT_DOUBLE_EQ(figure->difference, *results.value().number(1, "common_avg_jct_s") - theirs);
  EXPECT_NE(theirs, *results.value().number(0, "avg_jct_s")) << "over the jobs of both only";
  EXPECT_NE(sweep_table(made, statistics, 200, 10).find("refused"), std::string::npos);
}

TEST_F(SweepRunsTest, AWindowOfAnEndlessTraceEndsWithItsJobs) {
  const SweepPlan made = plan(
      "cluster = '6x8'\ntrace = 'synergy:load=2'\nwindow = '20-60'\n[axes]\npolicy = ['fifo', "
      "'las']\n");
  tables(made);
  EXPECT_EQ(lines(text("jobs.csv")).size(), 1U + 2 * 40);
}

TEST_F(SweepRunsTest, AWindowBeyondTheTraceIsRefused) {
  EXPECT_NE(problem("cluster = '6x8'\ntrace = 'synergy:jobs=30'\nwindow = '20-60'\n"
                    "policy = 'fifo'\n")
                .find("has only 30 jobs"),
            std::string::npos);
}

TEST_F(SweepRunsTest, WhatCannotRunIsSaidBeforeAnyRun) {
  EXPECT_EQ(problem("cluster = '2x4'\ntrace = 'philly-like:jobs=9'\n"
                    "[axes]\npolicy = ['fifo', 'fifa']\n")
                .substr(0, 13),
            "policy=fifa: ");
  EXPECT_FALSE(journal(plan("cluster = '2x4'\ntrace = 'philly-like:jobs=9'\n"
                            "[axes]\npolicy = ['fifo', 'fifa']\n"))
                   .has(0));
}

TEST_F(SweepRunsTest, ABadParameterIsSaidWithItsPoint) {
  EXPECT_TRUE(problem("cluster = '2x4'\ntrace = 'philly-like:jobs=9'\npolicy = 'fifo'\n"
                      "[axes]\nload = [0.5, -1]\n")
                  .starts_with("load=-1: philly-like:jobs=9,load=-1: "));
}

}  // namespace
}  // namespace orrery
