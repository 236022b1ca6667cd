#include <gtest/gtest.h>

#include "experiments/sweep/sweep_spec.h"

namespace orrery {
namespace {

SweepSpec parsed(std::string_view text) {
  auto spec = parse_sweep("s.toml", text);
  EXPECT_TRUE(spec.ok()) << spec.error().message;
  return spec.ok() ? std::move(spec).value() : SweepSpec();
}

std::string problem(std::string_view text) {
  const auto spec = parse_sweep("s.toml", text);
  return spec.ok() ? "" : spec.error().message;
}

std::vector<std::string> labels(const SweepAxis& axis) {
  std::vector<std::string> found;
  for (const SweepValue& value : axis.values) found.push_back(value.label);
  return found;
}

using Labels = std::vector<std::string>;

TEST(SweepFile, AxesStandInTheOrderOfTheFile) {
  const SweepSpec spec = parsed(R"(
trace = "philly-like:jobs=100"
cluster = "16x8"
speed-error = 0.1
limit = 50
[generator]
gpus = 128
[axes]
policy = ["fifo", "las:promote=8"]
load = [0.5, 0.9]
option.placement = ["packed", "spread"]
seed = { from = 1, to = 3 }
)");
  EXPECT_EQ(spec.common, (SweepSettings{{"trace", "philly-like:jobs=100"},
                                        {"cluster", "16x8"},
                                        {"speed-error", "0.1"},
                                        {"limit", "50"},
                                        {"generator.gpus", "128"}}));
  ASSERT_EQ(spec.axes.size(), 4U);
  EXPECT_EQ(spec.axes[0].name, "policy");
  EXPECT_EQ(spec.axes[1].name, "load");
  EXPECT_EQ(spec.axes[1].values[1].settings, (SweepSettings{{"generator.load", "0.9"}}));
  EXPECT_EQ(spec.axes[2].name, "option.placement");
  EXPECT_EQ(labels(spec.axes[3]), (Labels{"1", "2", "3"}));
  ASSERT_EQ(spec.grids.size(), 1U);
  EXPECT_EQ(spec.grids[0].size(), 4U);
}

TEST(SweepFile, ARangeHasTheNumbersOnePWouldWrite) {
  const SweepSpec spec = parsed("[axes]\nload = { from = 0.5, to = 0.9, step = 0.1 }\n");
  EXPECT_EQ(labels(spec.axes[0]), (Labels{"0.5", "0.6", "0.7", "0.8", "0.9"}));
}

TEST(SweepFile, AValueMayBeATableOfSettings) {
  const SweepSpec spec = parsed(R"(
[axes]
trace = [{ trace = "a.csv", cluster = "4x8", name = "A" }, "b.csv"]
size = [{ name = "small", cluster = "4x8", gpus = 32, option = { packing = 2 } }]
)");
  EXPECT_EQ(labels(spec.axes[0]), (Labels{"A", "b.csv"}));
  EXPECT_EQ(spec.axes[0].values[0].settings,
            (SweepSettings{{"trace", "a.csv"}, {"cluster", "4x8"}}));
  EXPECT_EQ(spec.axes[1].values[0].settings,
            (SweepSettings{{"cluster", "4x8"}, {"generator.gpus", "32"}, {"option.packing", "2"}}));
}

TEST(SweepFile, PointsAddToTheAxes) {
  const SweepSpec spec = parsed(R"(
[axes]
policy = ["fifo", "las"]
[[points]]
policy = "srtf"
seed = [4, 5]
[[points]]
policy = "fifo"
)");
  EXPECT_EQ(labels(spec.axes[0]), (Labels{"fifo", "las", "srtf"}));
  ASSERT_EQ(spec.grids.size(), 3U);
  EXPECT_EQ(spec.grids[1][0].values, std::vector<std::size_t>{2});
  EXPECT_EQ(spec.grids[2][0].values, std::vector<std::size_t>{0});
}

TEST(SweepFile, ExclusionsBaselineAndReportNameAxes) {
  const SweepSpec spec = parsed(R"(
[axes]
policy = ["fifo", "las"]
load = [0.5, 0.9]
[[exclude]]
policy = "las"
load = [0.5, 0.9]
[baseline]
policy = "las"
[report]
metrics = ["avg_jct_s", "max_rho"]
x = "load"
pareto = ["avg_jct_s", "max_rho"]
)");
  ASSERT_EQ(spec.exclusions.size(), 1U);
  EXPECT_EQ(spec.exclusions[0].size(), 2U);
  EXPECT_EQ(spec.baseline[0].values, std::vector<std::size_t>{1});
  EXPECT_EQ(spec.report.x, "load");
  EXPECT_EQ(spec.report.metrics.size(), 2U);
  EXPECT_TRUE(spec.report.pareto.has_value());
}

TEST(SweepFile, AnErrorSaysWhereAndWhatIsMeant) {
  EXPECT_TRUE(problem("polcy = 'fifo'")
                  .starts_with("s.toml:1: unknown key 'polcy'; did you mean 'policy'?"));
  EXPECT_TRUE(problem("[axes]\n\npolcy = ['fifo']")
                  .starts_with("s.toml:3: unknown key 'polcy'; did you mean 'policy'?"));
  EXPECT_NE(problem("[axes]\nsize = [3]").find("holds tables of settings"), std::string::npos);
  EXPECT_TRUE(problem("[axes]\npolicy = []").starts_with("s.toml:2: 'policy': the list is empty"));
  EXPECT_TRUE(problem("[generator]\nlod = 1").starts_with("s.toml:2: no generator has 'lod'"));
  EXPECT_NE(problem("generator.seed = 1").find("a setting of its own"), std::string::npos);
  EXPECT_TRUE(problem("trace = ['a']").starts_with("s.toml:1: 'trace'"));
  EXPECT_TRUE(problem("[axes]\nload = {from = 1, to = 0}").starts_with("s.toml:2: a range"));
  EXPECT_TRUE(problem("[axes]\nload = {from = 1, til = 2}").starts_with("s.toml:2: unknown key"));
  EXPECT_TRUE(problem("[axes]\nsize = [{cluster = '4x8'}]").starts_with("s.toml:2: write name"));
  EXPECT_TRUE(problem("[axes]\nload = [1]\n[[exclude]]\nlod = 1")
                  .starts_with("s.toml:4: the sweep has no axis 'lod'; did you mean 'load'?"));
  EXPECT_TRUE(problem("[axes]\nload = [1, 2]\n[[exclude]]\nload = 3")
                  .starts_with("s.toml:4: the axis load has no value '3'"));
  EXPECT_TRUE(problem("[axes]\nseed = [1, 2]\n[baseline]\nseed = 1").starts_with("s.toml:3:"));
  EXPECT_TRUE(problem("[report]\nmetrics = ['avg_jct']")
                  .starts_with("s.toml:2: there is no metric 'avg_jct'; did you mean 'avg_jct_s'"));
  EXPECT_TRUE(
      problem("[report]\nmetrics = ['policy']").starts_with("s.toml:2: there is no metric"));
  EXPECT_NE(
      problem("[axes]\npolicy = [{name = 'x', policy = 'fifo'}, {name = 'x', policy = 'las'}]")
          .find("stands for two different values"),
      std::string::npos);
  EXPECT_TRUE(problem("trace = ").starts_with("s.toml:1: is not valid TOML"));
}

}  // namespace
}  // namespace orrery
