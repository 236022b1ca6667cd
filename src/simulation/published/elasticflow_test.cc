// The figures of ElasticFlow's published simulator, row by row.
#include <gtest/gtest.h>

#include <filesystem>

#include "report/metrics/metrics.h"
#include "simulation/kernel/simulation.h"
#include "simulation/published/reference_rows.h"
#include "workload/clusters/cluster_spec.h"
#include "workload/trace.h"

namespace orrery {
namespace {

const std::string kData = std::string(ORRERY_SHARED) + "/data/elasticflow/";
const std::string kReference = std::string(ORRERY_SHARED) + "/reference/elasticflow.csv";

using Row = ReferenceRow;

struct Ours {
  std::string policy;
  std::map<std::string, std::string> options;
  double jct_tolerance = 1e-6;
};

const std::map<std::string, Ours>& names() {
  static const std::map<std::string, Ours> names = {
      {"dlas-gpu", {"las", {}}},
      {"edf", {"edf", {}}},
      {"edf-accessctrl", {"edf-admission", {}}},
      {"ef", {"elasticflow", {{"scale-up", "reference"}, {"admission", "none"}}}},
      {"ef-accessctrl", {"elasticflow", {{"scale-up", "reference"}, {"admission", "batch"}}}},
      {"gandiva", {"gandiva", {}}},
      {"themis", {"themis", {}}},
  };
  return names;
}

std::string label(const Row& row) {
  return row.at("trace") + " " + row.at("cluster") + " " + row.at("schedule");
}

// Runs that came to their end, of policies we have; what-if variants of the original are no
// goldens.
std::vector<Row> rows() {
  std::vector<Row> rows = reference_rows(kReference);
  std::erase_if(rows, [](const Row& row) {
    return row.at("variant") != "reference" || row.at("rc") != "0" ||
           !names().contains(row.at("schedule"));
  });
  return rows;
}

class ElasticFlowGolden : public testing::TestWithParam<Row> {};
GTEST_ALLOW_UNINSTANTIATED_PARAMETERIZED_TEST(ElasticFlowGolden);

TEST_P(ElasticFlowGolden, EqualsThePublishedSimulator) {
  const Row& row = GetParam();
  const std::string path = kData + "traces/" + row.at("trace") + ".csv";
  if (!std::filesystem::exists(path)) GTEST_SKIP() << "no trace " << path;
  const auto workload = read_trace(path, {.profiles = kData + "throughputs_" + row.at("gpu_type"),
                                          .gpu_type = row.at("gpu_type")});
  ASSERT_TRUE(workload.ok()) << workload.error().message;
  const auto cluster = read_cluster(kData + "cluster_specs/" + row.at("cluster") + ".csv");
  ASSERT_TRUE(cluster.ok()) << cluster.error().message;
  const Ours& ours = names().at(row.at("schedule"));
  Metrics metrics({.cluster = cluster.value(), .workload = &workload.value(), .window = {}});
  const auto outcome =
      simulate({.workload = &workload.value(),
                .cluster = &cluster.value(),
                .run = {.policy = {.name = ours.policy,
                                   .options = ours.options,
                                   .round = std::chrono::seconds(std::stoll(row.at("slot_s")))},
                        .semantics = SemanticsKind::ElasticFlow}},
               metrics);
  ASSERT_TRUE(outcome.ok()) << outcome.error().message;
  EXPECT_EQ(outcome.value().unfinished, 0);
  const RunSummary summary = metrics.summary();
  EXPECT_EQ(summary.completed, std::stoll(row.at("completed")));
  EXPECT_EQ(summary.deadlines_met.value_or(0), std::stoll(row.at("accepted")));
  const double theirs_s = std::stod(row.at("avg_jct_s"));
  EXPECT_NEAR(summary.avg_jct_s.value_or(0) / theirs_s, 1, ours.jct_tolerance)
      << "not " << theirs_s << " s";
}

INSTANTIATE_TEST_SUITE_P(EveryRow, ElasticFlowGolden, testing::ValuesIn(rows()),
                         [](const auto& test) {
                           return identifier(test.param.at("figure") + "_" + label(test.param));
                         });

TEST(ElasticFlowReference, HasRowsThatRan) {
  if (!std::filesystem::exists(kReference)) {
    GTEST_SKIP() << "no reference data at " << ORRERY_SHARED << "; nothing was tested";
  }
  EXPECT_GE(rows().size(), 50u);
}

}  // namespace
}  // namespace orrery
