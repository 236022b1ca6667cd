#include "experiments/sweep/sweep_statistics.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>

#include "base/test_folder.h"
#include "experiments/sweep/sweep_page.h"
#include "report/csv.h"

namespace orrery {
namespace {

// Runs whose figures are given: two policies by two loads by four seeds.
class SweepStatisticsTest : public testing::Test {
 protected:
  void SetUp() override {
    auto spec = parse_sweep("s.toml", R"(
trace = "philly-like"
cluster = "2x4"
[axes]
policy = ["a-very-long-name-of-a-policy", "las"]
load = [0.5, 0.9]
seed = { from = 1, to = 4 }
)");
    ASSERT_TRUE(spec.ok()) << spec.error().message;
    auto made = plan_sweep(spec.value());
    ASSERT_TRUE(made.ok()) << made.error().message;
    plan_ = std::move(made).value();
    auto opened =
        SweepJournal::open(folder_.file("j"), "x", plan_.points.size(), SweepJournal::Begin::Fresh);
    ASSERT_TRUE(opened.ok());
    SweepJournal journal = std::move(opened).value();
    for (std::size_t run = 0; run < plan_.points.size(); ++run) {
      RunSummary summary;
      const auto seed = static_cast<double>(run % 4 + 1);
      // las takes 10 less with every seed, of a hundred times the seed.
      summary.avg_jct_s = 100 * seed - (run >= 8 ? 10 : 0);
      if (run < 12) summary.unfair_ratio = seed;
      // One job, so that there is one which both completed.
      const double jct_s = *summary.avg_jct_s;
      const std::string job = fmt::format("{},j,,,1,1,0,0,{},Done,{},0,0,,,\n", run, jct_s, jct_s);
      ASSERT_TRUE(journal.append(run, csv_line(field_values(summary)) + job).ok());
    }
    auto results = SweepResults::read(plan_, journal);
    ASSERT_TRUE(results.ok()) << results.error().message;
    statistics_ = statistics_of(plan_, results.value());
  }

  const TestFolder folder_;
  SweepPlan plan_;
  SweepStatistics statistics_;
};

TEST_F(SweepStatisticsTest, AGroupIsAllRunsThatDifferInTheirSeeds) {
  ASSERT_EQ(statistics_.groups.size(), 4U);
  const SweepFigure* figure = statistics_.groups[0].figure("avg_jct_s");
  ASSERT_NE(figure, nullptr);
  EXPECT_EQ(figure->count, 4U);
  EXPECT_DOUBLE_EQ(figure->mean, 250);
  EXPECT_DOUBLE_EQ(figure->median, 250);
  ASSERT_TRUE(figure->of_mean.has_value());
  EXPECT_LT(figure->of_mean->low, 200);
  EXPECT_GT(figure->of_mean->high, 300);
  EXPECT_EQ(figure->pairs, 0U) << "it is the baseline";
}

TEST_F(SweepStatisticsTest, PairsOfOneSeedShowADifferenceThatTheSpreadHides) {
  const SweepFigure* figure = statistics_.groups[2].figure("avg_jct_s");
  ASSERT_NE(figure, nullptr);
  EXPECT_EQ(figure->pairs, 4U);
  EXPECT_DOUBLE_EQ(figure->difference, -10);
  EXPECT_DOUBLE_EQ(figure->of_difference->low, -10);
  EXPECT_DOUBLE_EQ(figure->of_difference->high, -10);
  EXPECT_DOUBLE_EQ(*figure->change, -0.04);
  EXPECT_LT(figure->of_change->high, 0);
}

TEST_F(SweepStatisticsTest, AFigureWithoutMeaningIsNotThere) {
  EXPECT_EQ(statistics_.groups[3].figure("unfair_ratio"), nullptr);
  EXPECT_EQ(statistics_.groups[0].figure("deadline_ratio"), nullptr);
  EXPECT_EQ(std::ranges::count(statistics_.metrics, "deadline_ratio"), 0);
  EXPECT_EQ(std::ranges::count(statistics_.metrics, "trace"), 0) << "a text";
}

TEST_F(SweepStatisticsTest, TheSummaryHasARowForEachGroupAndMetric) {
  const std::string path = folder_.file("summary.csv");
  ASSERT_TRUE(write_summary_csv(path, plan_, statistics_).ok());
  const std::string text = read_file(path).value();
  EXPECT_TRUE(text.starts_with(
      "policy,load,metric,runs,mean,median,low,high,baseline,pairs,difference,difference_low,"
      "difference_high,change,change_low,change_high\n"));
  EXPECT_NE(text.find("las,0.9,avg_jct_s,4,240,240,"), std::string::npos) << text;
}

TEST_F(SweepStatisticsTest, TheTableFitsTheTerminalOrSaysWhatIsLeftOut) {
  const std::string wide = sweep_table(plan_, statistics_, 300, 10);
  EXPECT_NE(wide.find("-4.0 % ["), std::string::npos) << wide;
  EXPECT_NE(wide.find("unfair_ratio"), std::string::npos);
  const std::string narrow = sweep_table(plan_, statistics_, 80, 10);
  EXPECT_NE(narrow.find("(left out, too narrow: unfair_ratio)"), std::string::npos) << narrow;
  EXPECT_NE(sweep_table(plan_, statistics_, 300, 3).find("(1 more rows in summary.csv)"),
            std::string::npos);
}

TEST_F(SweepStatisticsTest, ThePageHasItsChartsAndNoMarkupOfNames) {
  plan_.axes[0].values[1].label = "<b>las</b>";
  const std::string page = sweep_page(plan_, statistics_, "x");
  EXPECT_NE(page.find("avg_jct_s over load"), std::string::npos);
  EXPECT_NE(page.find("class=\"area\""), std::string::npos) << "intervals";
  EXPECT_NE(page.find("avg_jct, hours by policy and load"), std::string::npos) << "heat map";
  EXPECT_NE(page.find("unfair_ratio against avg_jct_s"), std::string::npos) << "Pareto front";
  EXPECT_NE(page.find("Best mean of avg_jct_s: &lt;b&gt;las&lt;/b&gt; in 2 of 2 settings."),
            std::string::npos);
  EXPECT_EQ(page.find("<b>las</b>"), std::string::npos);
  EXPECT_NE(page.find("each policy that no other beats in both metrics at the same load"),
            std::string::npos);
}

}  // namespace
}  // namespace orrery
