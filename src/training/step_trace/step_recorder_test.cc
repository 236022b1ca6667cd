#include "training/step_trace/step_recorder.h"

#include <gtest/gtest.h>

#include "training/step_trace/straggler_analysis.h"

namespace orrery {
namespace {

// Of a task that begins at its version's second: 0.1 s down, `compute_s`, 0.2 s up.
RecordedGradient gradient(std::int64_t task, int worker, std::int64_t version, double compute_s) {
  const auto begin = static_cast<double>(version) * 10;
  return {.task = task,
          .worker = worker,
          .version = version,
          .ordered_s = begin,
          .receive_s = 0.1,
          .compute_s = compute_s,
          .arrived_s = begin + 0.3 + compute_s};
}

void make_update(StepRecorder& recorder, std::int64_t version,
                 const std::vector<RecordedGradient>& gradients) {
  std::vector<std::int64_t> tasks;
  for (const RecordedGradient& each : gradients) {
    recorder.gradient(each);
    tasks.push_back(each.task);
  }
  recorder.update(version, tasks);
}

TEST(StepRecorder, AParameterServersStepIsReadAsItWas) {
  StepRecorder recorder(StepRecorder::Kind::ParameterServer, 2);
  make_update(recorder, 1, {gradient(1, 0, 0, 1), gradient(2, 7, 0, 4)});
  const auto trace = parse_step_trace("t", recorder.take());
  ASSERT_TRUE(trace.ok()) << trace.error().message;
  ASSERT_EQ(trace.value().operations.size(), 6u);
  const StepOperation& send = trace.value().operations[5];
  EXPECT_EQ(send.kind, OperationKind::GradientSend);
  EXPECT_EQ(send.worker, 1);
  EXPECT_EQ(send.step, 1);
  EXPECT_NEAR(send.start_s, 4.1, 1e-12);
  EXPECT_NEAR(send.duration_s, 0.2, 1e-12);
}

TEST(StepRecorder, OnlyUpdatesOfAllWorkersFromTheVersionBeforeAreRecorded) {
  StepRecorder recorder(StepRecorder::Kind::ParameterServer, 2);
  make_update(recorder, 1, {gradient(1, 0, 0, 1)});
  make_update(recorder, 2, {gradient(3, 0, 1, 1), gradient(2, 1, 0, 1)});
  make_update(recorder, 3, {gradient(4, 0, 2, 1), gradient(5, 0, 2, 1)});
  EXPECT_EQ(recorder.recorded(), 0);
  make_update(recorder, 4, {gradient(6, 0, 3, 1), gradient(7, 1, 3, 1)});
  // Worker 2 has come in place of worker 1.
  make_update(recorder, 5, {gradient(8, 0, 4, 1), gradient(9, 2, 4, 1)});
  EXPECT_EQ(recorder.recorded(), 1);
  EXPECT_EQ(recorder.left_out(), 4);
}

TEST(StepRecorder, AnUpdateWithAGradientThatWasNotSeenIsLeftOut) {
  StepRecorder recorder(StepRecorder::Kind::ParameterServer, 2);
  recorder.gradient(gradient(1, 0, 0, 1));
  recorder.update(1, std::vector<std::int64_t>{1, 2});
  EXPECT_EQ(recorder.left_out(), 1);
}

TEST(StepRecorder, AnAllReduceLastsUntilEachWorkerHasTheSum) {
  StepRecorder recorder(StepRecorder::Kind::AllReduce, 2);
  make_update(recorder, 1, {gradient(1, 0, 0, 1), gradient(2, 1, 0, 4)});
  recorder.summed(1, 0, 5);
  EXPECT_EQ(recorder.recorded(), 0);
  recorder.summed(1, 1, 5.1);
  EXPECT_EQ(recorder.recorded(), 1);
  const auto trace = parse_step_trace("t", recorder.take());
  ASSERT_TRUE(trace.ok());
  ASSERT_EQ(trace.value().operations.size(), 4u);
  const StepOperation& sum = trace.value().operations[1];
  EXPECT_EQ(sum.kind, OperationKind::GradientAllReduce);
  EXPECT_NEAR(sum.start_s, 1.3, 1e-12);
  EXPECT_NEAR(sum.end_s(), 5, 1e-12);
}

TEST(StepRecorder, TheSlowWorkerOfARecordedRunIsTheCulprit) {
  for (const auto kind : {StepRecorder::Kind::ParameterServer, StepRecorder::Kind::AllReduce}) {
    StepRecorder recorder(kind, 3);
    for (std::int64_t step = 1; step <= 5; ++step) {
      make_update(recorder, step,
                  {gradient(3 * step, 0, step - 1, 1), gradient(3 * step + 1, 1, step - 1, 4),
                   gradient(3 * step + 2, 2, step - 1, 1)});
      for (int worker = 0; worker < 3; ++worker) {
        recorder.summed(step, worker, static_cast<double>(step - 1) * 10 + 4.5);
      }
    }
    const auto trace = parse_step_trace("t", recorder.take());
    ASSERT_TRUE(trace.ok());
    const auto recorded = arrange_steps(trace.value(), shape_of(trace.value()));
    ASSERT_TRUE(recorded.ok()) << recorded.error().message;
    const auto graph = make_step_graph(recorded.value());
    ASSERT_TRUE(graph.ok());
    StepReplay replay(recorded.value(), graph.value());
    const StragglerAnalysis analysis =
        analyse_stragglers(recorded.value(), replay, {.by_rank = true});
    const Culprit culprit = find_culprit(recorded.value(), analysis);
    EXPECT_EQ(culprit.kind, Culprit::Kind::Worker);
    EXPECT_EQ(culprit.number, 1u);
  }
}

}  // namespace
}  // namespace orrery
