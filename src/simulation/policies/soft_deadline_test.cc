// Policies with admission and jobs whose deadlines are soft.
#include <gtest/gtest.h>

#include "simulation/kernel/simulation.h"
#include "simulation/testing/law_sink.h"

namespace orrery {
namespace {

using std::chrono::seconds;

struct Asked {
  int submitted_s = 0;
  int deadline_s = 0;  // after submission; 0: none
  DeadlineKind kind = DeadlineKind::Hard;
};

// Jobs of 100 s on one GPU.
Workload workload_of(const std::vector<Asked>& asked) {
  Workload workload;
  for (const Asked& one : asked) {
    JobSpec job;
    job.id = static_cast<JobId>(workload.jobs.size());
    job.name = "job";
    job.submitted = Time(seconds(one.submitted_s));
    job.gpus = 1;
    job.iterations = 100;
    job.iteration_s = 1;
    if (one.deadline_s != 0) job.deadline = job.submitted + seconds(one.deadline_s);
    job.deadline_kind = one.kind;
    workload.jobs.push_back(job);
  }
  return workload;
}

class SoftDeadlines : public testing::TestWithParam<std::pair<const char*, const char*>> {
 protected:
  // How each job ended, and when it was promised to be done.
  std::vector<Job> run(const Workload& workload) {
    Cluster cluster;
    Node& node = cluster.nodes.emplace_back();
    node.name = "n";
    node.gpus = 1;
    SimulationSetup setup;
    setup.workload = &workload;
    setup.cluster = &cluster;
    setup.run.policy.name = GetParam().first;
    if (GetParam().second[0] != '\0') setup.run.policy.options = {{"admission", GetParam().second}};
    LawSink laws({.cluster = &cluster, .workload = &workload});
    setup.cancel = &laws.stop();
    const auto outcome = simulate(setup, laws);
    EXPECT_TRUE(outcome.ok());
    laws.finish();
    EXPECT_EQ(laws.broken(), "");
    return {laws.state().jobs().begin(), laws.state().jobs().end()};
  }
};

TEST_P(SoftDeadlines, AJobThatCannotKeepItsSoftDeadlineRunsAllTheSame) {
  const Workload workload = workload_of({{.deadline_s = 10, .kind = DeadlineKind::Soft},
                                         {.deadline_s = 120, .kind = DeadlineKind::Soft},
                                         {.deadline_s = 120, .kind = DeadlineKind::Soft},
                                         {.deadline_s = 10}});
  const std::vector<Job> jobs = run(workload);
  for (int i = 0; i < 3; ++i) {
    EXPECT_EQ(jobs[static_cast<std::size_t>(i)].state, JobState::Done) << i;
    EXPECT_FALSE(jobs[static_cast<std::size_t>(i)].promised) << i;
  }
  EXPECT_EQ(jobs[3].state, JobState::Rejected) << "a hard one is promised or refused";
}

TEST_P(SoftDeadlines, ASoftDeadlineCostsNoJobItsPromise) {
  const Workload workload = workload_of({{.deadline_s = 1000, .kind = DeadlineKind::Soft},
                                         {.deadline_s = 150, .kind = DeadlineKind::Soft},
                                         {.submitted_s = 1, .deadline_s = 1100}});
  const std::vector<Job> jobs = run(workload);
  for (const Job& job : jobs) EXPECT_EQ(job.state, JobState::Done);
  ASSERT_TRUE(jobs[2].promised);
  EXPECT_LE(*jobs[2].promised, *workload.jobs[2].deadline);
}

TEST_P(SoftDeadlines, ALateSoftDeadlineIsNoReasonToRefuseOthers) {
  const Workload workload = workload_of(
      {{.deadline_s = 10, .kind = DeadlineKind::Soft}, {.submitted_s = 50, .deadline_s = 200}});
  const std::vector<Job> jobs = run(workload);
  EXPECT_EQ(jobs[0].state, JobState::Done);
  EXPECT_EQ(jobs[1].state, JobState::Done);
}

INSTANTIATE_TEST_SUITE_P(Policies, SoftDeadlines,
                         testing::Values(std::pair("elasticflow", ""),
                                         std::pair("elasticflow", "batch"),
                                         std::pair("edf-admission", "")));

}  // namespace
}  // namespace orrery
