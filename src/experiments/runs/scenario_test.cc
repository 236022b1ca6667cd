#include "experiments/runs/scenario.h"

#include <gtest/gtest.h>

#include <fstream>

#include "base/test_folder.h"
#include "workload/clusters/cluster_spec.h"

namespace orrery {
namespace {

class ScenarioTest : public testing::Test {
 protected:
  std::string file(const std::string& name, const std::string& text) const {
    std::ofstream(folder_.file(name)) << text;
    return folder_.file(name);
  }
  Result<std::shared_ptr<const NodeScenario>> read(const ScenarioTexts& texts) const {
    return read_scenario(texts, cluster_, 1);
  }
  std::string problem(const ScenarioTexts& texts) const {
    const auto scenario = read(texts);
    return scenario.ok() ? "" : scenario.error().message;
  }

  const Cluster cluster_ = read_cluster("4x2").value();
  const TestFolder folder_;
};

TEST_F(ScenarioTest, WithoutFilesNodesStay) {
  ASSERT_TRUE(read({}).ok());
  EXPECT_EQ(read({}).value(), nullptr);
  EXPECT_NE(problem({.notice = "30s"}).find("name --faults or --spot"), std::string::npos);
}

TEST_F(ScenarioTest, TheCommandLineBecomesRulesAndChanges) {
  const auto scenario = read({.faults = file("f.csv", "node,down_s,up_s\nnode1,100,200\n"),
                              .notice = "30s",
                              .checkpoint_interval = "30m",
                              .checkpoint_cost = "1m",
                              .prices = "on-demand=3,spot=1"});
  ASSERT_TRUE(scenario.ok()) << scenario.error().message;
  EXPECT_EQ(scenario.value()->rules, (FaultRules{.checkpoint_interval = std::chrono::minutes(30),
                                                 .checkpoint_cost = std::chrono::minutes(1),
                                                 .notice = std::chrono::seconds(30),
                                                 .on_demand_price = 3,
                                                 .spot_price = 1,
                                                 .on_demand_nodes = 4}));
  EXPECT_EQ(scenario.value()->changes.size(), 3U);
  EXPECT_EQ(scenario.value()->end, time_from_seconds(200));
  EXPECT_EQ(scenario.value()->text,
            "faults of f.csv, checkpoints every 30m, a save takes 1m, notice 30s");
}

TEST_F(ScenarioTest, FaultsAndSpotAddUp) {
  const std::string zone = file("z.json", R"({"metadata":{"gap_seconds":10},"data":[1,0,1]})");
  const auto scenario = read({.faults = file("f.csv", "node,down_s,up_s\n3,15,18\n0,5,8\n"),
                              .spot = {zone},
                              .on_demand_nodes = 1});
  ASSERT_TRUE(scenario.ok()) << scenario.error().message;
  EXPECT_EQ(scenario.value()->rules.on_demand_nodes, 1);
  // Node 3 is lost by the zone from 10 to 20, which holds its fault.
  EXPECT_EQ(scenario.value()->changes.size(), 8U);
}

TEST_F(ScenarioTest, WhatMakesNoSenseIsRefused) {
  const std::string faults = file("f.csv", "node,down_s\n0,1\n");
  EXPECT_TRUE(problem({.faults = faults, .notice = "soon"}).starts_with("--notice"));
  EXPECT_TRUE(problem({.faults = faults, .checkpoint_interval = "often"})
                  .starts_with("--checkpoint-interval"));
  EXPECT_NE(problem({.faults = faults, .checkpoint_interval = "0"}).find("write none"),
            std::string::npos);
  EXPECT_TRUE(problem({.faults = faults, .prices = "spot=-1"}).starts_with("--price"));
  EXPECT_TRUE(problem({.faults = faults, .prices = "cheap=1"}).starts_with("--price"));
  EXPECT_TRUE(problem({.faults = faults, .on_demand_nodes = 2}).starts_with("--on-demand"));
  EXPECT_TRUE(problem({.faults = faults, .on_demand_nodes = 9}).starts_with("--on-demand 9"));
  EXPECT_NE(problem({.faults = "absent.csv"}).find("cannot be opened"), std::string::npos);
}

TEST_F(ScenarioTest, JobsThatRunLongAreMarked) {
  Workload workload;
  for (const double duration_s : {3600.0, 86400.0, 90000.0}) {
    workload.jobs.emplace_back().iterations = duration_s;
    workload.jobs.back().iteration_s = 1;
  }
  const auto all = mark_lasting(workload, {});
  ASSERT_TRUE(all.ok());
  EXPECT_TRUE(all.value()->jobs[0].lasting);
  const auto marked = mark_lasting(workload, {.lasting = "1d"});
  ASSERT_TRUE(marked.ok());
  EXPECT_FALSE(marked.value()->jobs[0].lasting);
  EXPECT_TRUE(marked.value()->jobs[1].lasting);
  const auto later = mark_lasting(workload, {.lasting = "25h"});
  ASSERT_TRUE(later.ok());
  EXPECT_FALSE(later.value()->jobs[1].lasting);
  EXPECT_TRUE(later.value()->jobs[2].lasting);
  EXPECT_FALSE(mark_lasting(workload, {.lasting = "x"}).ok());
}

}  // namespace
}  // namespace orrery
