#include "experiments/runs/warnings.h"

#include <gtest/gtest.h>

#include "scheduling/policy/registry.h"

namespace orrery {
namespace {

using Lines = std::vector<std::string>;

// Two jobs of which nothing is known but GPUs and length.
Workload bare() {
  Workload workload;
  workload.jobs.resize(2);
  return workload;
}

Workload with_stages() {
  Workload workload = bare();
  workload.profiles.push_back({.stage_s = {1, 1, 1}, .slots = {1, 1, 1}});
  for (JobSpec& job : workload.jobs) job.profile = ProfileId{0};
  return workload;
}

TEST(Warnings, APolicyThatSharesGpusLacksStageProfiles) {
  EXPECT_EQ(data_warnings(bare(), "muri-l"),
            Lines{"2 of 2 jobs have no stage profile: such a job shares no GPU, as under las"});
  EXPECT_EQ(data_warnings(with_stages(), "muri-l"), Lines());
  Workload mixed = with_stages();
  mixed.jobs[1].profile = kNoProfile;
  EXPECT_EQ(data_warnings(mixed, "muri-s"),
            Lines{"1 of 2 jobs have no stage profile: such a job shares no GPU, as under srsf"});
}

TEST(Warnings, AntmanLacksOpportunisticJobsOrTheirStages) {
  EXPECT_EQ(data_warnings(with_stages(), "antman"),
            Lines{"no job is opportunistic: all jobs run in order of submission"});
  Workload classes = bare();
  classes.jobs[0].priority = 1;
  EXPECT_EQ(
      data_warnings(classes, "antman"),
      Lines{"2 of 2 jobs have no profile of three stages: an opportunistic job beside another "
            "runs at half its speed"});
}

TEST(Warnings, AnElasticPolicyLacksSpeedCurves) {
  EXPECT_EQ(data_warnings(bare(), "optimus"),
            Lines{"2 of 2 jobs have no speed curve (--profiles): each keeps the GPUs that it asks "
                  "for"});
}

TEST(Warnings, DeadlinesThatAPolicyIgnoresAreCounted) {
  Workload workload = bare();
  workload.jobs[1].deadline = Time(std::chrono::hours(1));
  EXPECT_EQ(data_warnings(workload, "las"),
            Lines{"1 of 2 jobs have a deadline: this policy ignores deadlines"});
  EXPECT_EQ(data_warnings(workload, "chronus"), Lines());
  EXPECT_EQ(data_warnings(bare(), "chronus"),
            Lines{"no job has a deadline: all jobs are best effort"});
}

TEST(Warnings, AnAllocatorLacksSensitivities) {
  EXPECT_EQ(data_warnings(bare(), "srtf+tune+place"),
            Lines{"2 of 2 jobs have no sensitivity profile (--profiles): CPUs and memory do not "
                  "change their speed"});
  EXPECT_EQ(data_warnings(bare(), "srtf+proportional"), Lines());
}

TEST(Warnings, NoneForAPolicyThatNeedsNothingOrForNoJobs) {
  EXPECT_EQ(data_warnings(bare(), "srtf"), Lines());
  EXPECT_EQ(data_warnings(Workload(), "muri-l"), Lines());
  EXPECT_EQ(data_warnings(bare(), "no-such-policy"), Lines());
}

TEST(Warnings, JobsThatTheClusterCannotHoldAreNumbered) {
  Cluster cluster;
  cluster.nodes.resize(1);
  cluster.nodes[0].gpus = 8;
  RunSummary run;
  run.jobs = 1000;
  add_warnings(cluster, run);
  EXPECT_TRUE(run.warnings.empty());
  run.too_large = 24;
  add_warnings(cluster, run);
  EXPECT_EQ(run.warnings, Lines{"24 of 1000 jobs ask for more than the whole cluster has (8 GPUs): "
                                "they are rejected"});
}

TEST(Warnings, ArePrintedOnceForEachTraceAndPolicy) {
  std::vector<ReportRun> runs(2);
  for (ReportRun& run : runs) {
    run.summary.trace = "t";
    run.summary.policy = "las";
    run.summary.warnings = {"text"};
  }
  EXPECT_EQ(warning_lines(runs), "orrery: warning: t, las: text\n");
}

}  // namespace
}  // namespace orrery
