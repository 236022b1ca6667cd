#include "training/step_trace/step_graph.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "training/step_trace/test_steps.h"

namespace orrery {
namespace {

std::size_t find(const RecordedSteps& recorded, OperationKind kind, int stage) {
  const auto found = std::ranges::find_if(recorded.operations, [&](const StepOperation& each) {
    return each.kind == kind && each.stage == stage;
  });
  return static_cast<std::size_t>(found - recorded.operations.begin());
}

std::string error_of(const TestSteps& steps) {
  const auto graph = make_step_graph(steps.recorded());
  return graph.ok() ? "" : graph.error().message;
}

using enum OperationKind;

TEST(StepGraph, ATransferJoinsTwoStages) {
  TestSteps steps;
  const RecordedSteps recorded = steps.pipeline_step(0, 0, 2).recorded();
  const auto graph = make_step_graph(recorded);
  ASSERT_TRUE(graph.ok()) << graph.error().message;
  const std::size_t send = find(recorded, ForwardSend, 0);
  const std::size_t receive = find(recorded, ForwardReceive, 1);
  EXPECT_NE(graph.value().group_of[send], StepGraph::kNoGroup);
  EXPECT_EQ(graph.value().group_of[send], graph.value().group_of[receive]);
  EXPECT_EQ(graph.value().needs[send], std::vector<std::size_t>{find(recorded, ForwardCompute, 0)});
  EXPECT_EQ(graph.value().needs[find(recorded, ForwardCompute, 1)],
            std::vector<std::size_t>{receive});
  EXPECT_TRUE(graph.value().needs[receive].empty());
}

TEST(StepGraph, TheOptimizerFollowsTheLastComputation) {
  TestSteps steps;
  const RecordedSteps recorded = steps.pipeline_step(0, 0, 2).recorded();
  const auto graph = make_step_graph(recorded);
  ASSERT_TRUE(graph.ok());
  EXPECT_EQ(graph.value().needs[find(recorded, Optimizer, 0)],
            std::vector<std::size_t>{find(recorded, BackwardCompute, 0)});
}

TEST(StepGraph, AnAllReduceJoinsAllWorkers) {
  TestSteps steps;
  const auto graph = make_step_graph(steps.all_reduce_step(0, {1, 2}, 0.5).recorded());
  ASSERT_TRUE(graph.ok());
  ASSERT_EQ(graph.value().groups.size(), 1u);
  EXPECT_TRUE(graph.value().groups[0].across_workers);
  EXPECT_EQ(graph.value().needs[1], std::vector<std::size_t>{0});
}

TEST(StepGraph, EveryOperationFollowsWhatItNeeds) {
  TestSteps steps;
  const RecordedSteps recorded = steps.pipeline_step(0, 0, 2).pipeline_step(0, 1, 3).recorded();
  const auto graph = make_step_graph(recorded);
  ASSERT_TRUE(graph.ok());
  const std::vector<std::size_t>& order = graph.value().order;
  ASSERT_EQ(order.size(), recorded.operations.size());
  for (std::size_t i = 0; i < order.size(); ++i) {
    for (const std::size_t needed : graph.value().needs[order[i]]) {
      EXPECT_LT(std::ranges::find(order, needed) - order.begin(), static_cast<long>(i));
    }
  }
}

TEST(StepGraph, ATransferWithoutItsOtherEndIsRefused) {
  TestSteps steps;
  steps.pipeline_step(0, 0, 2);
  std::erase_if(steps.trace().operations,
                [](const StepOperation& each) { return each.kind == ForwardReceive; });
  EXPECT_EQ(error_of(steps),
            "steps.csv: stage 0 has 1 forward-send to stage 1, which has 0 forward-recv");
}

TEST(StepGraph, OperationsThatWaitForEachOtherAreRefused) {
  TestSteps steps;
  steps.pipeline_step(0, 0, 2);
  // Stage 0 is said to go backward before it goes forward.
  for (StepOperation& each : steps.trace().operations) {
    if (each.stage == 0 && each.kind == BackwardCompute) each.start_s = -1;
    if (each.kind == BackwardReceive) each.start_s = -2;
  }
  EXPECT_NE(error_of(steps).find("wait for each other in a circle"), std::string::npos)
      << error_of(steps);
}

TEST(StepGraph, WhatHasNoPlaceInAStepIsRefused) {
  TestSteps steps;
  steps.pipeline_step(0, 0, 2).add({.rank = 0, .kind = Optimizer, .start_s = 20});
  EXPECT_NE(error_of(steps).find("optimizer 1 of stage 0 has no place in the step"),
            std::string::npos)
      << error_of(steps);
  TestSteps mixed;
  mixed.pipeline_step(0, 0, 2).add({.kind = GradientSend});
  EXPECT_NE(error_of(mixed).find("does not go with forward-compute"), std::string::npos);
}

}  // namespace
}  // namespace orrery
