// The published simulator's figures, row by row, and what our own semantics must keep on the same
// traces.
#include <gtest/gtest.h>

#include <cmath>
#include <filesystem>
#include <map>

#include "report/metrics/metrics.h"
#include "simulation/kernel/simulation.h"
#include "simulation/published/reference_rows.h"
#include "workload/clusters/cluster_spec.h"
#include "workload/trace.h"

namespace orrery {
namespace {

const std::string kData = std::string(ORRERY_SHARED) + "/data/muri/";
const std::string kReference = std::string(ORRERY_SHARED) + "/reference/muri.csv";

#define NEEDS_SHARED()                                                                  \
  if (!std::filesystem::exists(kReference) || !std::filesystem::exists(kData)) {        \
    GTEST_SKIP() << "no reference data at " << ORRERY_SHARED << "; nothing was tested"; \
  }

using Row = ReferenceRow;

std::vector<Row> rows() {
  std::vector<Row> rows = reference_rows(kReference);
  std::erase_if(rows, [](const Row& row) { return row.at("status") != "ok"; });
  return rows;
}

struct Ours {
  std::string policy;
  std::map<std::string, std::string> options;
  double jct_tolerance = 1e-6;
  double makespan_tolerance = 1e-6;
  double p99_tolerance = 1e-6;
};

Ours translate(const Row& row) {
  static const std::string muri_l = "multi-resource-blossom-same-gpu-unaware";
  static const std::map<std::string, Ours> names = {
      {"shortest", {"srtf", {}}},
      {"shortest-gpu", {"srsf", {}}},
      {"dlas-gpu", {"las", {}}},
      {"antman", {"antman", {}}},
      {"themis", {"themis", {}, 0.05, 0.05, 0.05}},
      {"multi-resource-blossom-same-gpu", {"muri-s", {}, 0.04, 0.01, 0.15}},
      {muri_l, {"muri-l", {}, 0.04, 0.01, 0.15}},
      {muri_l + "-worstordering", {"muri-l", {{"ordering", "worst"}}, 0.04, 0.01, 0.15}},
      {"multi-resource-gpu-unaware", {"muri-l", {{"matching", "none"}}, 0.04, 0.01, 0.15}},
  };
  const auto known = names.find(row.at("policy"));
  if (known == names.end()) return {};
  Ours ours = known->second;
  const std::string& flags = row.at("flags");
  if (flags.find("--packing_num") != std::string::npos) {
    ours.options["packing"] = flags.substr(flags.rfind(' ') + 1);
  }
  return ours;
}

RunSummary run(const std::string& trace, const std::string& policy,
               const std::map<std::string, std::string>& options, SemanticsKind semantics) {
  const auto workload = read_trace(kData + trace + ".csv");
  const auto cluster = read_cluster(kData + "n8g8.csv");
  if (!workload.ok() || !cluster.ok()) {
    ADD_FAILURE() << (workload.ok() ? cluster.error() : workload.error()).message;
    return {};
  }
  Metrics metrics({.cluster = cluster.value(), .workload = &workload.value(), .window = {}});
  const auto outcome =
      simulate({.workload = &workload.value(),
                .cluster = &cluster.value(),
                .run = {.policy = {.name = policy, .options = options}, .semantics = semantics}},
               metrics);
  EXPECT_TRUE(outcome.ok()) << outcome.error().message;
  if (outcome.ok()) {
    EXPECT_EQ(outcome.value().unfinished, 0);
  }
  return metrics.summary();
}

class MuriGolden : public testing::TestWithParam<Row> {};
GTEST_ALLOW_UNINSTANTIATED_PARAMETERIZED_TEST(MuriGolden);

TEST_P(MuriGolden, EqualsThePublishedSimulator) {
  const Row& row = GetParam();
  const Ours ours = translate(row);
  ASSERT_NE(ours.policy, "") << "no policy of ours is called " << row.at("policy");
  if (!std::filesystem::exists(kData + row.at("trace") + ".csv")) {
    GTEST_SKIP() << "no trace " << row.at("trace") << " in " << kData;
  }
  const RunSummary summary = run(row.at("trace"), ours.policy, ours.options, SemanticsKind::Muri);
  const auto expect_near = [&](const std::string& column, double figure, double tolerance) {
    const double theirs = std::stod(row.at(column));
    EXPECT_NEAR(figure / theirs, 1, tolerance) << column << ": " << figure << ", not " << theirs;
  };
  EXPECT_EQ(summary.completed, std::stoll(row.at("jobs_done")));
  expect_near("avg_jct", summary.avg_jct_s.value_or(0), ours.jct_tolerance);
  expect_near("makespan", summary.makespan_s.value_or(0), ours.makespan_tolerance);
  expect_near("p99_jct", summary.p99_jct_s.value_or(0), ours.p99_tolerance);
}

INSTANTIATE_TEST_SUITE_P(EveryRow, MuriGolden, testing::ValuesIn(rows()), [](const auto& test) {
  const Row& row = test.param;
  return identifier(row.at("trace") + "_" + row.at("policy") + "_" + row.at("flags"));
});

TEST(MuriReference, HasRowsThatRan) {
  NEEDS_SHARED();
  EXPECT_GE(rows().size(), 30u);
}

class OnTrace : public testing::TestWithParam<std::string> {};

double avg_jct_s(const std::string& trace, const std::string& policy) {
  return run(trace, policy, {}, SemanticsKind::Orrery).avg_jct_s.value_or(0);
}

TEST_P(OnTrace, GroupsByAttainedServiceAreNoWorseThanLas) {
  NEEDS_SHARED();
  const double grouped_s = avg_jct_s(GetParam(), "muri-l");
  EXPECT_GT(grouped_s, 0);
  EXPECT_LE(grouped_s, avg_jct_s(GetParam(), "las"));
}

TEST_P(OnTrace, GroupsByRemainingServiceAreNoWorseThanSrsf) {
  NEEDS_SHARED();
  const double grouped_s = avg_jct_s(GetParam(), "muri-s");
  EXPECT_GT(grouped_s, 0);
  EXPECT_LE(grouped_s, avg_jct_s(GetParam(), "srsf"));
}

INSTANTIATE_TEST_SUITE_P(EveryTrace, OnTrace,
                         testing::Values("trace1", "trace1_pr", "trace3", "trace3_pr", "trace4",
                                         "trace4_pr", "job_type_1", "job_type_2", "job_type_3",
                                         "cluster_trace"),
                         [](const auto& test) { return test.param; });

}  // namespace
}  // namespace orrery
