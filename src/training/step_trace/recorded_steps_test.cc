#include "training/step_trace/recorded_steps.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "training/step_trace/test_steps.h"

namespace orrery {
namespace {

std::string error_of(const Result<RecordedSteps>& arranged) {
  return arranged.ok() ? "" : arranged.error().message;
}

TEST(RecordedSteps, LanesHoldStepsOfWorkersAndTimesSinceTheStep) {
  TestSteps steps;
  steps.all_reduce_step(7, {1, 2}, 0.5).all_reduce_step(3, {4, 3}, 0.5);
  const RecordedSteps recorded = steps.recorded();
  EXPECT_EQ(recorded.steps, (std::vector<std::int64_t>{3, 7}));
  ASSERT_EQ(recorded.lanes(), 4u);
  ASSERT_EQ(recorded.operations.size(), 2u);
  const double* const compute = recorded.durations.of(0);
  EXPECT_EQ(std::vector<double>(compute, compute + 4), (std::vector<double>{4, 3, 1, 2}));
  EXPECT_DOUBLE_EQ(recorded.starts.of(1)[0], 4);
  EXPECT_DOUBLE_EQ(recorded.starts.of(0)[2], 0);
}

TEST(RecordedSteps, ADuplicateIsNamedWithItsLine) {
  TestSteps steps;
  steps.all_reduce_step(1, {1, 2}, 0.5);
  for (const std::size_t copied : {std::size_t{0}, std::size_t{2}}) {
    TestSteps more = steps;
    more.trace().operations.push_back(more.trace().operations[copied]);
    more.trace().lines.push_back(6);
    EXPECT_EQ(error_of(more.arranged()),
              fmt::format("steps.csv:6: compute 0 of stage 0 occurs twice in step 1 of dp_rank {}; "
                          "remove one",
                          copied / 2));
  }
}

TEST(RecordedSteps, AnOperationThatAWorkerLacksIsNamed) {
  TestSteps steps;
  steps.all_reduce_step(1, {1, 2}, 0.5).all_reduce_step(2, {1, 2}, 0.5);
  steps.trace().operations.pop_back();
  steps.trace().lines.pop_back();
  EXPECT_EQ(
      error_of(steps.arranged()),
      "steps.csv: step 2 of dp_rank 1 lacks gradient-all-reduce 0 of stage 0, which dp_rank 0 "
      "has in step 1; leave out incomplete steps");
}

TEST(RecordedSteps, AnOperationThatTheFirstWorkerLacksIsNamed) {
  TestSteps steps;
  steps.all_reduce_step(1, {1, 2}, 0.5);
  steps.add({.step = 1, .worker = 1, .rank = 1, .kind = OperationKind::Optimizer});
  EXPECT_EQ(error_of(steps.arranged()),
            "steps.csv:6: optimizer 0 of stage 0 of dp_rank 1 in step 1 has no counterpart of "
            "dp_rank 0 in step 1; all workers and steps need the same operations");
}

TEST(RecordedSteps, WorkersAndStagesAreThoseOfTheShape) {
  TestSteps steps;
  steps.all_reduce_step(1, {1, 2}, 0.5);
  TrainingShape shape;
  shape.workers = 3;
  EXPECT_EQ(error_of(arrange_steps(steps.trace(), shape)),
            "steps.csv: holds no operation of dp_rank 2, but dp_size is 3");
  shape.workers = 1;
  EXPECT_EQ(error_of(arrange_steps(steps.trace(), shape)),
            "steps.csv:4: dp_rank is 1, but dp_size is 1");
  shape.workers = 2;
  shape.stages = 2;
  EXPECT_EQ(error_of(arrange_steps(steps.trace(), shape)),
            "steps.csv: holds no operation of stage 1, but pp_size is 2");
}

TEST(RecordedSteps, AWorkerHasOneRankAtAStage) {
  TestSteps steps;
  steps.all_reduce_step(1, {1, 2}, 0.5);
  steps.trace().operations[3].rank = 5;
  EXPECT_EQ(error_of(steps.arranged()),
            "steps.csv:5: dp_rank 1 at stage 0 is rank 5 here, but rank 1 before");
}

TEST(RecordedSteps, AFileWithFewRowsTakesLittleMemory) {
  TestSteps steps;
  for (int step = 0; step < 2000; ++step) {
    steps.trace().operations.push_back(
        {.step = step, .worker = step % 500, .rank = step % 500, .kind = OperationKind::Compute});
    steps.trace().lines.push_back(step + 2);
  }
  for (int i = 1; i < 50; ++i) {
    steps.trace().operations.push_back({.kind = OperationKind::Compute, .sequence = i});
    steps.trace().lines.push_back(2000 + i);
  }
  EXPECT_NE(error_of(steps.arranged()).find("leave out incomplete steps and workers"),
            std::string::npos);
}

}  // namespace
}  // namespace orrery
