#include <gtest/gtest.h>

#include "report/metrics/metrics.h"
#include "report/page/series_recorder.h"
#include "report/test_run.h"

namespace orrery {
namespace {

using enum EventKind;

// Two nodes of 2 GPUs. Job 0 has 40 s of work on 2 GPUs: it runs 0..30 on node 1, which is lost
// until 50; 10 s of its work were saved. It runs 30..60 on node 0.
TestRun a_loss() {
  TestRun run(2, 2);
  run.submit(0, 0, 2, 40, 1);
  run.hold(0, 0, Started, {{NodeId{1}, 0b11}}).iterations_per_s = 1;
  run.add(0, 0, Queued);
  run.change_node(30, NodeLost, 1);
  Event& paused = run.add(30, 0, Paused);
  paused.work_left = 30;
  paused.work_lost = 20;
  paused.reason = {.code = Reason::Code::NodeLost, .wanted = 1};
  run.hold(30, 0, Resumed, {{NodeId{0}, 0b11}}).iterations_per_s = 1;
  run.change_node(50, NodeBack, 1);
  run.add(60, 0, Completed);
  return run;
}

RunSummary summary_of(const TestRun& run, const std::optional<FaultRules>& faults) {
  Metrics metrics(
      {.cluster = run.cluster, .workload = &run.workload, .window = {}, .faults = faults});
  run.send(metrics);
  return metrics.summary();
}

TEST(NodeSums, ALossComesOutAsComputedByHand) {
  TestRun run = a_loss();
  // What is left after an event is that of the event: 40, then 30.
  Metrics metrics(
      {.cluster = run.cluster,
       .workload = &run.workload,
       .window = {},
       .faults = FaultRules{.on_demand_price = 3, .spot_price = 1, .on_demand_nodes = 1}});
  for (Event event : run.events()) {
    if (event.kind == Started) event.work_left = 40;
    if (event.kind == Resumed) event.work_left = 30;
    metrics.write(event);
  }
  const RunSummary summary = metrics.summary();
  EXPECT_EQ(summary.fault_restarts, 1);
  EXPECT_EQ(summary.nodes_lost, 1);
  EXPECT_DOUBLE_EQ(*summary.lost_gpu_h, 40.0 / 3600);
  EXPECT_DOUBLE_EQ(*summary.node_downtime_h, 20.0 / 3600);
  // Up: node 0 for 60 s and node 1 for 40 s, 2 GPUs each; 80 GPU seconds of work in all.
  EXPECT_DOUBLE_EQ(*summary.goodput, 80.0 / 200);
  EXPECT_DOUBLE_EQ(*summary.cost, (120.0 * 3 + 80.0 * 1) / 3600);
  EXPECT_DOUBLE_EQ(*summary.cost_on_demand, 200.0 * 3 / 3600);
}

TEST(NodeSums, WithoutFaultsTheirFiguresAreEmpty) {
  TestRun run(1, 2);
  run.submit(0, 0);
  run.hold(0, 0, Started, {{NodeId{0}, 1}});
  run.add(10, 0, Completed);
  const RunSummary summary = summary_of(run, {});
  EXPECT_FALSE(summary.goodput || summary.lost_gpu_h || summary.fault_restarts ||
               summary.nodes_lost || summary.node_downtime_h || summary.cost ||
               summary.cost_on_demand);
}

TEST(NodeSums, LossesBeforeTheFirstJobDoNotCount) {
  TestRun run(2, 2);
  run.change_node(0, NodeLost, 0);
  run.submit(100, 0);
  run.hold(100, 0, Started, {{NodeId{1}, 1}});
  run.add(110, 0, Completed);
  const RunSummary summary = summary_of(run, FaultRules{.on_demand_nodes = 2});
  EXPECT_EQ(summary.nodes_lost, 0);
  EXPECT_DOUBLE_EQ(*summary.node_downtime_h, 10.0 / 3600);
  EXPECT_DOUBLE_EQ(*summary.cost, 20.0 / 3600);
}

TEST(NodeSums, ThePageShowsTheGpusOfNodesThatAreThere) {
  const TestRun run = a_loss();
  SeriesRecorder recorder({.cluster = run.cluster, .workload = &run.workload});
  run.send(recorder);
  const Series series = recorder.series();
  ASSERT_FALSE(series.gpus_up.mean.empty());
  EXPECT_DOUBLE_EQ(series.gpus_up.mean.front(), 4);
  EXPECT_DOUBLE_EQ(series.gpus_up.mean[series.gpus_up.mean.size() * 2 / 3], 2);
  EXPECT_DOUBLE_EQ(series.gpus_up.mean.back(), 4);
}

}  // namespace
}  // namespace orrery
