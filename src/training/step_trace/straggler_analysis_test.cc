#include "training/step_trace/straggler_analysis.h"

#include <gtest/gtest.h>

#include "training/step_trace/test_steps.h"

namespace orrery {
namespace {

struct Analysed {
  RecordedSteps recorded;
  StragglerAnalysis analysis;
};

Analysed analysed(const TestSteps& steps) {
  RecordedSteps recorded = steps.recorded();
  const auto graph = make_step_graph(recorded);
  EXPECT_TRUE(graph.ok()) << graph.error().message;
  StepReplay replay(recorded, graph.value());
  StragglerAnalysis analysis = analyse_stragglers(recorded, replay, {.by_rank = true});
  return {.recorded = std::move(recorded), .analysis = std::move(analysis)};
}

// The forward pass of stage 1 takes 4 s longer, and what follows it begins 4 s later.
void slow_forward_at_stage_1(StepOperation& each) {
  if (each.kind == OperationKind::BackwardReceive) {
    each.duration_s += 4;
  } else if (each.start_s > 4) {
    each.start_s += 4;
  }
  if (each.stage == 1 && each.kind == OperationKind::ForwardCompute) each.duration_s += 4;
}

TEST(StepReplay, TheRecordedDurationsGiveTheRecordedSteps) {
  TestSteps steps;
  const RecordedSteps recorded = steps.pipeline_step(0, 0, 2).pipeline_step(0, 1, 3).recorded();
  const auto graph = make_step_graph(recorded);
  ASSERT_TRUE(graph.ok());
  StepReplay replay(recorded, graph.value());
  const LaneValues own = replay.own_durations();
  EXPECT_EQ(replay.step_times(own), std::vector<double>{15});
  const StepTimes& times = replay.replay(own);
  for (std::size_t i = 0; i < recorded.operations.size(); ++i) {
    for (std::size_t lane = 0; lane < recorded.lanes(); ++lane) {
      EXPECT_DOUBLE_EQ(times.ends.of(i)[lane],
                       recorded.starts.of(i)[lane] + recorded.durations.of(i)[lane]);
    }
  }
}

TEST(StepReplay, ATransferTakesItsTimeFromTheLastStart) {
  TestSteps steps;
  const RecordedSteps recorded = steps.all_reduce_step(0, {1, 4}, 0.5).recorded();
  const auto graph = make_step_graph(recorded);
  ASSERT_TRUE(graph.ok());
  const LaneValues own = StepReplay(recorded, graph.value()).own_durations();
  EXPECT_DOUBLE_EQ(own.of(1)[0], 0.5);
  EXPECT_DOUBLE_EQ(own.of(1)[1], 0.5);
}

// Computations take 1, 1, 1 and 5 s, on average 2 s: a step of 5.5 s, and of 2.5 s without
// slowness.
TEST(StragglerAnalysis, ASlowWorkerIsTheCulprit) {
  TestSteps steps;
  const auto [recorded, analysis] = analysed(steps.all_reduce_step(0, {1, 1, 5, 1}, 0.5));
  EXPECT_DOUBLE_EQ(analysis.replayed_step_s, 5.5);
  EXPECT_DOUBLE_EQ(analysis.ideal_step_s, 2.5);
  EXPECT_DOUBLE_EQ(analysis.slowdown, 2.2);
  EXPECT_DOUBLE_EQ(analysis.launch_slowdown, 1);
  EXPECT_DOUBLE_EQ(analysis.by_worker[2].slowdown, 2.2);
  EXPECT_DOUBLE_EQ(analysis.by_worker[0].slowdown, 1);
  EXPECT_DOUBLE_EQ(*analysis.by_worker[2].gain, 1);
  EXPECT_DOUBLE_EQ(analysis.by_worker[2].step_s, 2.5);
  EXPECT_DOUBLE_EQ(*analysis.by_worker[0].gain, 0);
  EXPECT_DOUBLE_EQ(*analysis.slowest_ranks_gain, 1);
  EXPECT_FALSE(analysis.last_stage_gain.has_value());
  const Culprit culprit = find_culprit(recorded, analysis);
  EXPECT_EQ(culprit.kind, Culprit::Kind::Worker);
  EXPECT_EQ(culprit.number, 2u);
  EXPECT_EQ(analysis.by_operation[0].name, "compute");
}

TEST(StragglerAnalysis, EqualWorkersAreNotSlow) {
  TestSteps steps;
  const auto [recorded, analysis] =
      analysed(steps.all_reduce_step(0, {2, 2}, 0.5).all_reduce_step(1, {2, 2}, 0.5));
  EXPECT_DOUBLE_EQ(analysis.slowdown, 1);
  EXPECT_FALSE(analysis.by_worker[0].gain.has_value());
  EXPECT_EQ(find_culprit(recorded, analysis).kind, Culprit::Kind::None);
}

// One microbatch crosses both stages one after the other, so only their sum counts.
TEST(StragglerAnalysis, AnUnequalDivisionCostsNothingWithOneMicrobatch) {
  TestSteps steps;
  for (int worker = 0; worker < 2; ++worker) {
    steps.pipeline_step(0, worker, 2);
  }
  for (StepOperation& each : steps.trace().operations) slow_forward_at_stage_1(each);
  EXPECT_DOUBLE_EQ(analysed(steps).analysis.slowdown, 1);
}

TEST(Culprit, TheSmallestPartThatExplainsHalfIsNamed) {
  TestSteps steps;
  const RecordedSteps recorded = steps.pipeline_step(0, 0, 2).pipeline_step(0, 1, 2).recorded();
  StragglerAnalysis analysis;
  analysis.slowdown = 1.2;
  analysis.by_worker = {{.gain = 0.1}, {.gain = 0.45}};
  analysis.by_stage = {{.gain = -0.1}, {.gain = 1.2}};
  analysis.by_rank = {{.gain = 0}, {.gain = 0.3}, {.gain = 0}, {.gain = 0.4}};
  EXPECT_EQ(find_culprit(recorded, analysis).kind, Culprit::Kind::Stage);
  EXPECT_EQ(find_culprit(recorded, analysis).number, 1u);
  analysis.by_worker[1].gain = 0.6;
  EXPECT_EQ(find_culprit(recorded, analysis).kind, Culprit::Kind::Worker);
  analysis.by_rank[3].gain = 0.6;
  EXPECT_EQ(find_culprit(recorded, analysis).kind, Culprit::Kind::Rank);
  EXPECT_EQ(find_culprit(recorded, analysis).number, 3u);
  analysis.slowdown = 1.02;
  EXPECT_EQ(find_culprit(recorded, analysis).kind, Culprit::Kind::None);
}

TEST(StragglerAnalysis, ASlowWorkerAtOneStageIsOneRank) {
  TestSteps steps;
  for (int worker = 0; worker < 4; ++worker) steps.pipeline_step(0, worker, 2);
  for (StepOperation& each : steps.trace().operations) {
    if (each.worker == 3) slow_forward_at_stage_1(each);
  }
  const auto [recorded, analysis] = analysed(steps);
  const Culprit culprit = find_culprit(recorded, analysis);
  EXPECT_EQ(culprit.kind, Culprit::Kind::Rank);
  EXPECT_EQ(culprit.number, 7u);
}

TEST(StragglerAnalysis, EachStepHasItsOwnSlowdown) {
  TestSteps steps;
  const auto [recorded, analysis] =
      analysed(steps.all_reduce_step(0, {1, 1}, 1).all_reduce_step(1, {1, 5}, 1));
  ASSERT_EQ(analysis.steps.size(), 2u);
  EXPECT_DOUBLE_EQ(analysis.ideal_step_s, 3);
  EXPECT_DOUBLE_EQ(analysis.steps[0], 2.0 / 3);
  EXPECT_DOUBLE_EQ(analysis.steps[1], 2);
  EXPECT_DOUBLE_EQ(analysis.by_rank[1].steps[1], 2);
  EXPECT_DOUBLE_EQ(analysis.by_rank[0].steps[1], 1);
}

}  // namespace
}  // namespace orrery
