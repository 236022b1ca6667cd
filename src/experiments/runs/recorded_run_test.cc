#include "experiments/runs/recorded_run.h"

#include <gtest/gtest.h>

#include "base/files.h"
#include "base/test_folder.h"
#include "workload/clusters/cluster_spec.h"
#include "workload/generators/generate.h"

namespace orrery {
namespace {

class RecordedRunTest : public testing::Test {
 protected:
  std::string path() const { return folder_.file("run.jsonl"); }

  // Makes the run and its log.
  RunRequest recorded(RunDescription run) const {
    RunRequest request{.workload = std::make_shared<const Workload>(
                           load_workload("philly-like:jobs=30,seed=2,gpus=8", {}).value()),
                       .cluster = std::make_shared<const Cluster>(read_cluster("2x4").value()),
                       .run = std::move(run),
                       .events = path()};
    const auto made = make_runs({&request, 1}, {.threads = 1, .progress = false});
    EXPECT_TRUE(made.ok()) << made.error().message;
    return request;
  }

  // Replaces a text in the log.
  void change(const std::string& text, const std::string& by) const {
    std::string content = read_file(path()).value();
    const std::size_t at = content.find(text);
    ASSERT_NE(at, std::string::npos) << text;
    ASSERT_TRUE(write_file_atomically(path(), content.replace(at, text.size(), by)).ok());
  }

  std::string problem() const {
    auto log = read_recorded(path());
    if (!log.ok()) return log.error().message.substr(path().size());
    const auto request = request_of(log.value(), path());
    return request.ok() ? "" : request.error().message.substr(path().size());
  }

  TestFolder folder_;
};

TEST_F(RecordedRunTest, TheRunIsDescribedAsItWasMade) {
  const RunRequest made = recorded({.policy = {.name = "las",
                                               .options = {{"limits", "1h"}},
                                               .seed = 7,
                                               .round = std::chrono::minutes(1)},
                                    .speed_error = 0.1});
  const auto log = read_recorded(path());
  ASSERT_TRUE(log.ok()) << log.error().message;
  EXPECT_TRUE(log.value().complete);
  EXPECT_EQ(log.value().report.summary.policy, "las:limits=1h");
  EXPECT_EQ(log.value().report.summary.completed, 30);
  const auto request = request_of(log.value(), path());
  ASSERT_TRUE(request.ok()) << request.error().message;
  EXPECT_TRUE(request.value().from_log);
  EXPECT_EQ(request.value().run.policy, made.run.policy);
  EXPECT_EQ(request.value().run.speed_error, made.run.speed_error);
  EXPECT_EQ(request.value().workload->jobs.size(), 30U);
}

TEST_F(RecordedRunTest, WhatHappenedToNodesIsRepeated) {
  RunRequest request{.workload = std::make_shared<const Workload>(
                         load_workload("philly-like:jobs=30,seed=2,gpus=8", {}).value()),
                     .cluster = std::make_shared<const Cluster>(read_cluster("2x4").value()),
                     .run = {.policy = {.name = "las"}},
                     .events = path()};
  const FaultRules rules{.checkpoint_interval = std::chrono::minutes(10),
                         .checkpoint_cost = std::chrono::seconds(5),
                         .notice = std::chrono::seconds(2),
                         .on_demand_price = 2,
                         .spot_price = 0.5,
                         .on_demand_nodes = 1};
  auto nodes = std::make_shared<NodeScenario>();
  nodes->rules = rules;
  nodes->changes = node_changes({{NodeId{0}, time_from_seconds(9000), time_from_seconds(20'000)},
                                 {NodeId{1}, time_from_seconds(30'000), time_from_seconds(31'000)}},
                                rules.notice);
  set_scenario(request, nodes);
  const auto made = make_runs({&request, 1}, {.threads = 1, .progress = false});
  ASSERT_TRUE(made.ok()) << made.error().message;
  const RunSummary& summary = made.value().runs[0].summary;
  ASSERT_EQ(summary.nodes_lost, 2);
  ASSERT_GT(summary.fault_restarts, 0);
  const auto log = read_recorded(path());
  ASSERT_TRUE(log.ok()) << log.error().message;
  EXPECT_EQ(log.value().report.summary.lost_gpu_h, summary.lost_gpu_h);
  EXPECT_EQ(log.value().report.summary.cost, summary.cost);
  const auto again = request_of(log.value(), path());
  ASSERT_TRUE(again.ok()) << again.error().message;
  EXPECT_EQ(again.value().run.faults, rules);
  ASSERT_NE(again.value().nodes, nullptr);
  EXPECT_EQ(again.value().nodes->changes, nodes->changes);
  const RunRequest repeated = again.value();
  const auto second = make_runs({&repeated, 1}, {.threads = 1, .progress = false});
  ASSERT_TRUE(second.ok());
  EXPECT_EQ(second.value().runs[0].summary.avg_jct_s, summary.avg_jct_s);
  EXPECT_EQ(second.value().runs[0].summary.events, summary.events);
}

TEST_F(RecordedRunTest, ALogThatEndsBeforeTheRunIsNotComplete) {
  recorded({.policy = {.name = "fifo"}});
  const std::string content = read_file(path()).value();
  const std::size_t last = content.rfind('\n', content.size() - 2);
  ASSERT_TRUE(write_file_atomically(path(), content.substr(0, last + 1)).ok());
  const auto log = read_recorded(path());
  ASSERT_TRUE(log.ok()) << log.error().message;
  EXPECT_FALSE(log.value().complete);
  EXPECT_EQ(log.value().report.summary.status, RunStatus::Interrupted);
  EXPECT_EQ(log.value().report.summary.left, 1);
  EXPECT_FALSE(log.value().report.summary.makespan_s.has_value());
}

TEST_F(RecordedRunTest, ALogThatCannotBeRepeatedIsRefused) {
  recorded({.policy = {.name = "fifo"}});
  change("\"policy\":\"fifo\"", "\"policy\":\"fofi\"");
  EXPECT_NE(problem().find("fofi"), std::string::npos);
  change("\"policy\":\"fofi\"", "\"policy\":\"\"");
  EXPECT_NE(problem().find("does not say under which policy"), std::string::npos);
  recorded({.policy = {.name = "fifo"}, .speed_error = 0.5});
  change("\"speed_error\":0.5", "\"speed_error\":0.95");
  EXPECT_NE(problem().find("beyond what a run may have"), std::string::npos);
}

TEST_F(RecordedRunTest, AJobBeyondTheBoundsOfTracesIsRefusedWithItsLine) {
  recorded({.policy = {.name = "fifo"}});
  change("\"gpus\":1,", "\"gpus\":2000000,");
  EXPECT_EQ(problem(), ":2: \"gpus\" is beyond what a job may have");
}

}  // namespace
}  // namespace orrery
