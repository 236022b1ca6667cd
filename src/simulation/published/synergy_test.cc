// The figures of Synergy's published simulator, row by row.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <cmath>
#include <filesystem>

#include "report/metrics/metrics.h"
#include "simulation/kernel/simulation.h"
#include "simulation/published/reference_rows.h"
#include "workload/clusters/cluster_spec.h"
#include "workload/generators/generate.h"

namespace orrery {
namespace {

const std::string kData = std::string(ORRERY_SHARED) + "/data/synergy/";
const std::string kReference = std::string(ORRERY_SHARED) + "/reference/synergy.csv";

using Row = ReferenceRow;

bool is_synthetic(const Row& row) { return row.at("trace") == "synthetic"; }

std::vector<Row> rows() {
  std::vector<Row> rows = reference_rows(kReference);
  std::erase_if(rows, [](const Row& row) {
    return row.at("system") != "synergy" || row.at("status") != "ok";
  });
  return rows;
}

std::string policy_of(const Row& row) {
  std::string order = row.at("policy");
  for (char& c : order) c = static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
  return order + "+" + row.at("variant");
}

// More jobs than came before the published run ended.
std::string trace_of(const Row& row) {
  if (!is_synthetic(row)) {
    const std::string name = row.at("trace").substr(0, row.at("trace").find(' '));
    return kData + name.substr(name.find('/') + 1);
  }
  const std::int64_t jobs = std::stoll(row.at("finished")) + std::stoll(row.at("pending"));
  return fmt::format("synergy:load={},seed={},gpus={},split={},jobs={}", row.at("load_jobs_per_h"),
                     row.at("seed"), row.at("gpus"), row.at("split"), jobs + 100);
}

class SynergyGolden : public testing::TestWithParam<Row> {};
GTEST_ALLOW_UNINSTANTIATED_PARAMETERIZED_TEST(SynergyGolden);

TEST_P(SynergyGolden, EqualsThePublishedSimulator) {
  const Row& row = GetParam();
  const std::string file = kData + (is_synthetic(row) ? "default_cluster.ini" : "static_trace.ini");
  const std::string trace = trace_of(row);
  if (!std::filesystem::exists(file)) GTEST_SKIP() << "no cluster " << file;
  if (!is_synthetic(row) && !std::filesystem::exists(trace)) GTEST_SKIP() << "no trace " << trace;
  const auto cluster = read_cluster(file);
  ASSERT_TRUE(cluster.ok()) << cluster.error().message;
  const auto workload = load_workload(trace);
  ASSERT_TRUE(workload.ok()) << workload.error().message;
  SimulationSetup setup{
      .workload = &workload.value(),
      .cluster = &cluster.value(),
      .run = {.policy = {.name = policy_of(row)}, .semantics = SemanticsKind::Synergy}};
  const bool all_at_once = row.at("trace").find("static") != std::string::npos;
  if (all_at_once) setup.run.policy.options["static"] = "true";
  std::optional<JobWindow> window;
  if (is_synthetic(row)) {
    const std::string text = row.at("window");
    window = JobWindow{static_cast<JobId>(std::stoi(text)),
                       static_cast<JobId>(std::stoi(text.substr(text.find('-') + 1)))};
    setup.run.window = window;
  }
  Metrics metrics({.cluster = cluster.value(),
                   .workload = &workload.value(),
                   .window = window,
                   .interpolates = true});
  const auto outcome = simulate(setup, metrics);
  ASSERT_TRUE(outcome.ok()) << outcome.error().message;
  const RunSummary summary = metrics.summary();
  const bool is_opt = row.at("variant") == "opt";  // its ties are broken by another solver
  const auto expect_hours = [&](std::optional<double> ours_s, const char* column, double digit) {
    if (row.at(column).empty()) return;
    const double theirs = std::stod(row.at(column));
    const double tolerance = is_opt ? 0.02 * theirs : digit * 0.51;
    EXPECT_NEAR(ours_s.value_or(NAN) / 3600, theirs, tolerance) << column;
  };
  expect_hours(summary.avg_jct_s, "avg_jct_h", 1e-4);
  expect_hours(summary.p99_jct_s, "p99_jct_h", 1e-4);
  expect_hours(summary.makespan_s, "makespan_h", 1e-3);
  if (is_opt) return;
  EXPECT_EQ(summary.preemptions, std::stoll(row.at("preemptions")));
  EXPECT_EQ(summary.moves, std::stoll(row.at("migrations")));
  // The published simulator also holds rounds before the first job has come.
  const double first_s = seconds(workload.value().jobs.front().submitted);
  const auto idle = is_synthetic(row) ? std::llround(std::ceil(first_s / 300)) : 0;
  EXPECT_EQ(outcome.value().rounds + idle, std::stoll(row.at("rounds")));
}

std::string name_of(const testing::TestParamInfo<Row>& info) {
  const Row& row = info.param;
  return identifier(fmt::format("{}_{}_{}_{}_{}", row.at("policy"), row.at("variant"),
                                row.at("trace"), row.at("load_jobs_per_h"), row.at("window")));
}

INSTANTIATE_TEST_SUITE_P(Rows, SynergyGolden, testing::ValuesIn(rows()), name_of);

}  // namespace
}  // namespace orrery
