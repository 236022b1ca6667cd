#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <nlohmann/json.hpp>

#include "base/files.h"
#include "base/test_folder.h"
#include "cloud/market/spot_policies.h"
#include "commands/transient.h"

namespace orrery {
namespace {

// Traces with ticks of ten minutes; a letter a tick: u has capacity, d has none.
class TransientPlan : public testing::Test {
 protected:
  std::string trace(const std::string& name, const std::string& pattern, int times) const {
    std::string text = R"({"metadata": {"gap_seconds": 600}, "data": [0)";
    for (int i = 0; i < times; ++i) {
      for (const char letter : pattern) text += letter == 'u' ? ", 1" : ", 0";
    }
    const std::string path = folder_.file(name);
    EXPECT_TRUE(write_file_atomically(path, text + "]}").ok());
    return path;
  }

  TransientPlanArguments arguments() const {
    return {.traces = {trace("a.json", "uuuuuuuudddd", 30), trace("b.json", "dddduuu", 50)},
            .policies = {"greedy", "orrery-spot"},
            .work = "20h",
            .deadlines = {"24h"},
            .changeovers = {"6m"},
            .list = {.json = true}};
  }

  static nlohmann::json runs_of(const TransientPlanArguments& arguments) {
    testing::internal::CaptureStdout();
    const Status status = transient_plan_command(arguments);
    const std::string text = testing::internal::GetCapturedStdout();
    EXPECT_TRUE(status.ok()) << status.error().message;
    return status.ok() ? nlohmann::json::parse(text)["runs"] : nlohmann::json::array();
  }

  static std::string refusal_of(const TransientPlanArguments& arguments) {
    const Status status = transient_plan_command(arguments);
    EXPECT_FALSE(status.ok());
    return status.ok() ? "" : status.error().message;
  }

  TestFolder folder_;
};

TEST_F(TransientPlan, EachPolicyIsARunWithItsCostAndTheOptimum) {
  const auto runs = runs_of(arguments());
  ASSERT_EQ(runs.size(), 2U);
  EXPECT_EQ(runs[0]["policy"], "greedy");
  EXPECT_EQ(runs[1]["policy"], "orrery-spot");
  for (const auto& run : runs) {
    const double spot_s = run["spot_s"], on_demand_s = run["on_demand_s"], cost = run["cost"];
    EXPECT_NEAR(cost, (spot_s / 3 + on_demand_s) / 3600, 1e-9);
    EXPECT_NEAR(run["on_demand_cost"].get<double>(), 20.1, 1e-9);
    EXPECT_LE(run["optimal_cost"].get<double>(), cost + 1e-9);
    EXPECT_GT(run["optimal_cost"].get<double>(), 20.1 / 3);
    EXPECT_EQ(run["met"], true);
    EXPECT_LE(run["finish_s"].get<double>(), 24 * 3600);
    EXPECT_GT(run["revocations"].get<int>(), 0);
  }
}

TEST_F(TransientPlan, SeveralDeadlinesChangeoversAndStartsAreAllPlanned) {
  TransientPlanArguments a = arguments();
  a.deadlines = {"24h", "30h"};
  a.changeovers = {"2m", "30m"};
  a.starts_spread = 3;
  const auto runs = runs_of(a);
  ASSERT_EQ(runs.size(), 2U * 2 * 3 * 2);
  EXPECT_EQ(runs[0]["start"], 0);
  EXPECT_EQ(runs[4]["start"], 351 - 144);  // the last one: 24 h before the end of the shorter trace
  EXPECT_EQ(runs.back()["deadline_s"], 30 * 3600);
  EXPECT_EQ(runs.back()["changeover_s"], 1800);
}

TEST_F(TransientPlan, PricesAreThoseOfAnHour) {
  TransientPlanArguments a = arguments();
  a.policies = {"on-demand"};
  a.on_demand_price = 3;
  a.spot_price = 1;
  EXPECT_NEAR(runs_of(a)[0]["cost"].get<double>(), 60.3, 1e-9);
}

TEST_F(TransientPlan, WithoutPoliciesAllAreInTheTable) {
  TransientPlanArguments a = arguments();
  a.policies.clear();
  a.list.json = false;
  testing::internal::CaptureStdout();
  ASSERT_TRUE(transient_plan_command(a).ok());
  const std::string text = testing::internal::GetCapturedStdout();
  for (const SpotPolicyInfo* policy : spot_policies()) {
    EXPECT_NE(text.find("\n" + std::string(policy->name) + " "), std::string::npos) << text;
  }
}

TEST_F(TransientPlan, FaultsAreNamedWithWhatToWrite) {
  TransientPlanArguments a = arguments();
  a.traces = {folder_.file("none.json")};
  EXPECT_NE(refusal_of(a).find("none.json"), std::string::npos);
  a = arguments();
  a.policies = {"orrery-spt"};
  EXPECT_EQ(refusal_of(a), "there is no policy 'orrery-spt'; did you mean orrery-spot?");
  a = arguments();
  a.deadlines = {"20h"};
  EXPECT_NE(refusal_of(a).find("the earliest is 1206m"), std::string::npos) << refusal_of(a);
  a = arguments();
  a.work = "nan";
  EXPECT_NE(refusal_of(a).find("--work: 'nan' is no length of time"), std::string::npos);
  a = arguments();
  a.starts = {300};
  EXPECT_NE(refusal_of(a).find("the last possible start is tick 207"), std::string::npos);
  a = arguments();
  a.deadlines = {"90d"};
  EXPECT_NE(refusal_of(a).find("the trace ends after 351 ticks"), std::string::npos);
}

// The row of six zones of bench/spot_deadlines.py, on the published traces.
TEST_F(TransientPlan, OnPublishedTracesOursKeepsDeadlinesBelowUniformProgress) {
  const std::filesystem::path data = ORRERY_SHARED "/data/spot/availability/1-node/aws-02-15-2023";
  if (!std::filesystem::exists(data)) GTEST_SKIP() << data << " is absent";
  TransientPlanArguments a = arguments();
  a.traces.clear();
  for (const auto& entry : std::filesystem::directory_iterator(data)) {
    a.traces.push_back(entry.path().string());
  }
  std::ranges::sort(a.traces);
  a.policies = {"uniform-progress", "orrery-spot"};
  a.work = "48h";
  a.deadlines = {"3024m", "3168m", "3456m", "3888m", "72h"};
  a.changeovers = {"2m", "6m", "15m", "30m"};
  a.starts_spread = 6;
  double ours = 0, theirs = 0, optimum = 0;
  for (const auto& run : runs_of(a)) {
    EXPECT_EQ(run["met"], true);
    const bool mine = run["policy"] == "orrery-spot";
    (mine ? ours : theirs) += run["cost"].get<double>();
    optimum += mine ? run["optimal_cost"].get<double>() : 0;
  }
  EXPECT_LT(ours, theirs);
  EXPECT_LT(ours, 1.1 * optimum);
}

}  // namespace
}  // namespace orrery
