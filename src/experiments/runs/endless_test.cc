#include "experiments/runs/endless.h"

#include <gtest/gtest.h>

#include "workload/clusters/cluster_spec.h"
#include "workload/generators/generate.h"

namespace orrery {
namespace {

constexpr JobWindow kWindow{JobId{20}, JobId{60}};

// Two policies on a cluster that the jobs nearly fill.
PlanRuns plan(const std::string& trace, std::vector<std::int64_t>& draws) {
  return [&draws, trace](std::int64_t drawn) -> Result<std::vector<RunRequest>> {
    draws.push_back(drawn);
    TRY_ASSIGN(Workload workload, load_workload(trace, {.drawn = drawn}));
    TRY_ASSIGN(Cluster cluster, read_cluster("6x8"));
    std::vector<RunRequest> requests;
    for (const std::string policy : {"fifo", "srtf"}) {
      RunRequest& request = requests.emplace_back();
      request.workload = std::make_shared<const Workload>(workload);
      request.cluster = std::make_shared<const Cluster>(cluster);
      request.run.policy.name = policy;
      request.label = policy;
      request.run.window = kWindow;
      request.goes_on = goes_on(trace);
    }
    return requests;
  };
}

RunsResult run(const std::string& trace, std::int64_t first_draw,
               std::vector<std::int64_t>& draws) {
  auto result = make_endless_runs(plan(trace, draws), {.first_draw = first_draw},
                                  {.threads = 1, .progress = false});
  EXPECT_TRUE(result.ok()) << result.error().message;
  return result.ok() ? std::move(result).value() : RunsResult();
}

void expect_same(const RunSummary& a, const RunSummary& b) {
  EXPECT_EQ(a.avg_jct_s, b.avg_jct_s);
  EXPECT_EQ(a.p99_jct_s, b.p99_jct_s);
  EXPECT_EQ(a.makespan_s, b.makespan_s);
  EXPECT_EQ(a.avg_queue, b.avg_queue);
  EXPECT_EQ(a.gpu_utilisation, b.gpu_utilisation);
  EXPECT_EQ(a.preemptions, b.preemptions);
  EXPECT_EQ(a.events, b.events);
}

TEST(EndlessRuns, DoNotDependOnHowManyJobsWereDrawn) {
  std::vector<std::int64_t> few_draws;
  std::vector<std::int64_t> many_draws;
  const RunsResult few = run("synergy:load=1.2", 60, few_draws);
  const RunsResult many = run("synergy:load=1.2", 5000, many_draws);
  EXPECT_GT(few_draws.size(), 1u) << "60 jobs must not be enough, or this test says nothing";
  EXPECT_EQ(many_draws.size(), 1u);
  ASSERT_EQ(few.runs.size(), 2u);
  ASSERT_EQ(many.runs.size(), 2u);
  for (std::size_t i = 0; i < 2; ++i) {
    EXPECT_EQ(few.runs[i].summary.policy, i == 0 ? "fifo" : "srtf");
    EXPECT_EQ(few.runs[i].summary.completed, 40);
    expect_same(few.runs[i].summary, many.runs[i].summary);
  }
}

TEST(EndlessRuns, ATraceThatEndsIsRunOnce) {
  std::vector<std::int64_t> draws;
  const RunsResult result = run("synergy:load=1.2,jobs=60", 60, draws);
  EXPECT_EQ(draws.size(), 1u);
  EXPECT_EQ(result.runs.at(0).summary.completed, 40);
}

TEST(EndlessRuns, AQueueThatGrowsForEverIsAnError) {
  std::vector<std::int64_t> draws;
  const auto result =
      make_endless_runs(plan("synergy:load=900", draws), {.first_draw = 100, .most_drawn = 400},
                        {.threads = 1, .progress = false});
  ASSERT_FALSE(result.ok());
  EXPECT_EQ(draws, (std::vector<std::int64_t>{100, 200, 400}));
  EXPECT_TRUE(result.error().message.starts_with("the window was not done when 400 jobs"))
      << result.error().message;
}

}  // namespace
}  // namespace orrery
