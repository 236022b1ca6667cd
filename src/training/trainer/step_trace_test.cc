#include <gtest/gtest.h>

#include <fstream>

#include "base/files.h"
#include "training/step_trace/step_trace_text.h"
#include "training/step_trace/straggler_analysis.h"
#include "training/trainer/test_run.h"

namespace orrery {
namespace {

struct TracedRun {
  Outcome outcome{};
  RecordedSteps recorded{};
  StragglerAnalysis analysis{};
};

TracedRun traced(const TestFolder& folder, std::vector<std::string> more) {
  const std::string path = folder.path() + "/steps.csv";
  more.insert(more.end(), {"--trace-steps", path});
  TracedRun run{.outcome = run_in(folder.run(), more)};
  EXPECT_EQ(run.outcome.run.exit_code, 0) << run.outcome.run.errors;
  const auto text = read_file(path);
  if (!text.ok()) ADD_FAILURE() << text.error().message;
  if (!text.ok()) return run;
  const auto trace = parse_step_trace(path, text.value());
  EXPECT_TRUE(trace.ok()) << trace.error().message;
  if (!trace.ok()) return run;
  auto recorded = arrange_steps(trace.value(), shape_of(trace.value()));
  EXPECT_TRUE(recorded.ok()) << recorded.error().message;
  if (!recorded.ok()) return run;
  run.recorded = std::move(recorded).value();
  const auto graph = make_step_graph(run.recorded);
  EXPECT_TRUE(graph.ok()) << graph.error().message;
  if (!graph.ok()) return run;
  StepReplay replay(run.recorded, graph.value());
  run.analysis = analyse_stragglers(run.recorded, replay, {.by_rank = true});
  return run;
}

// The link of one server has a quarter of what the others have. The transport keeps to that rate by
// itself, so the load of this machine matters little.
TEST(StepTraceOfARun, AWorkerSlowedDownFourTimesIsTheCulprit) {
  const TestFolder folder;
  std::ofstream(folder.path() + "/slow.txt") << "at 0s server 2 bandwidth 0.25\n";
  const TracedRun run =
      traced(folder, {"--arch", "ps", "--mode", "ssgd", "--model", "wide", "--steps", "60",
                      "--tree", "never", "--link", "400000", "--link-means", "token-bucket",
                      "--stragglers", folder.path() + "/slow.txt"});
  ASSERT_EQ(run.recorded.shape.workers, 4);
  EXPECT_GE(run.recorded.steps.size(), 10u);
  EXPECT_GT(run.analysis.slowdown, 1.2);
  const Culprit culprit = find_culprit(run.recorded, run.analysis);
  EXPECT_EQ(culprit.kind, Culprit::Kind::Worker);
  EXPECT_EQ(culprit.number, 2u);
}

TEST(StepTraceOfARun, AllReduceIsRecordedAsComputationAndSum) {
  const TestFolder folder;
  const TracedRun run = traced(folder, {"--arch", "allreduce", "--mode", "ssgd", "--steps", "80"});
  EXPECT_EQ(run.recorded.shape.workers, 4);
  EXPECT_GE(run.recorded.steps.size(), 10u);
  ASSERT_EQ(run.recorded.operations.size(), 2u);
  EXPECT_EQ(run.analysis.by_operation.size(), 2u);
}

TEST(StepTraceOfARun, UpdatesThatDoNotWaitForAllAreCounted) {
  const TestFolder folder;
  const std::string path = folder.path() + "/steps.csv";
  const Outcome outcome = run_in(
      folder.run(), {"--arch", "ps", "--mode", "asgd", "--steps", "80", "--trace-steps", path});
  EXPECT_EQ(outcome.run.exit_code, 0) << outcome.run.errors;
  ASSERT_EQ(outcome.summary["warnings"].size(), 1u);
  EXPECT_NE(outcome.summary["warnings"][0].get<std::string>().find("updates are not recorded"),
            std::string::npos);
}

TEST(StepTraceOfARun, AFileThatCannotBeWrittenIsRefusedAtOnce) {
  const TestFolder folder;
  const auto run = [&](const std::string& path) {
    const TestFolder own;
    return run_in(own.run(), {"--steps", "40", "--trace-steps", path}).run;
  };
  EXPECT_NE(run(folder.path() + "/none/steps.csv").exit_code, 0);
  const TestRun packed = run(folder.path() + "/steps.csv.zst");
  EXPECT_EQ(packed.exit_code, 2);
  EXPECT_NE(packed.errors.find("packs nothing"), std::string::npos) << packed.errors;
}

}  // namespace
}  // namespace orrery
