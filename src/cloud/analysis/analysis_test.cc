#include "cloud/analysis/analysis.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <filesystem>
#include <memory>
#include <string>
#include <vector>

#include "base/files.h"
#include "base/test_folder.h"
#include "cloud/analysis/server_lives.h"
#include "cloud/analysis/summary_text.h"
#include "cloud/analysis/testing/small_data.h"
#include "workload/text/csv.h"

namespace orrery {
namespace {

struct Done {
  PublishedData data;
  Analysis analysis;
};

// The analysis points into the data, so both stay where they are.
std::unique_ptr<Done> analysed(const std::vector<std::string>& folders) {
  auto done = std::make_unique<Done>();
  auto data = read_published_data(folders);
  EXPECT_TRUE(data.ok()) << data.error().message;
  if (!data.ok()) return nullptr;
  done->data = std::move(data).value();
  const auto prices = published_prices();
  EXPECT_TRUE(prices.ok());
  auto analysis = analyse(done->data, prices.value());
  EXPECT_TRUE(analysis.ok()) << analysis.error().message;
  if (!analysis.ok()) return nullptr;
  done->analysis = std::move(analysis).value();
  return done;
}

double value_in(const Done& done, std::string_view table, std::string_view config,
                std::string_view metric) {
  const auto text = value_of(done.analysis.rows, table, config, metric);
  EXPECT_TRUE(text.has_value()) << table << ' ' << config << ' ' << metric;
  return text ? std::stod(*text) : std::nan("");
}

class SmallData : public ::testing::Test {
 protected:
  void SetUp() override {
    write_small_data(folder_);
    done_ = analysed({folder_.path()});
    ASSERT_NE(done_, nullptr);
  }

  TestFolder folder_;
  std::unique_ptr<Done> done_;
};

TEST_F(SmallData, TimesAndCostsAreThoseOfCompletedRuns) {
  EXPECT_EQ(value_in(*done_, "training", "k80_spot/2-spot", "runs_total"), 3);
  EXPECT_EQ(value_in(*done_, "training", "k80_spot/2-spot", "runs_completed"), 2);
  EXPECT_EQ(value_in(*done_, "training", "k80_spot/2-spot", "duration_s_mean"), 8500);
  EXPECT_EQ(value_in(*done_, "training", "k80_spot/2-spot", "raw_recomputed_duration_mean_s"), 8500)
      << "from the last evaluation at step 0";
  EXPECT_NEAR(value_in(*done_, "training", "k80_on_demand/2-demand", "nominal_rate_usd_per_s"),
              2 * 0.00020083 + 0.0000397, 1e-12);
  EXPECT_NEAR(value_in(*done_, "vs_baseline", "k80_on_demand/2-demand", "speedup_vs_1k80_ondemand"),
              14'050.0 / 7100, 1e-8);
}

TEST_F(SmallData, ParameterServersRegionsAndMixesAreCompared) {
  EXPECT_NEAR(value_in(*done_, "ps", "8xV100", "speedup_2ps_over_1ps"), 1422.0 / 812, 1e-8);
  EXPECT_NEAR(value_in(*done_, "ps", "2xK80", "scaling_1ps_vs_1k80"), 14'050.0 / 7000, 1e-8);
  EXPECT_NEAR(value_in(*done_, "cross_region", "2e1c1w P100", "slowdown_pct_vs_4p100_one_zone"),
              100 * (2500.0 / 1700 - 1), 1e-7);
  const double sum = 64'000.0 / 4400 + 64'000.0 / 5400 + 2 * 64'000.0 / 14'050;
  EXPECT_NEAR(value_in(*done_, "mixed", "1v1p2k", "efficiency"), 32 / sum, 1e-8);
}

TEST_F(SmallData, ARunThatLostAWorkerIsPredicted) {
  // The worker was lost 0.6 * 300 s before its uptime says, at 4000 s of the training.
  const double speed = 64'000.0 / 7000 / 2;
  EXPECT_NEAR(
      value_in(*done_, "revocation_predict", "2-spot us-east1-c run2", "predicted_duration_s"),
      4000 + (64'000 - 2 * 4000 * speed) / speed, 1e-4);
}

TEST_F(SmallData, RowsThatContradictOthersAreNamedAndNoSoundRow) {
  std::vector<std::string> found;
  for (const Inconsistency& one : done_->analysis.inconsistencies) {
    found.push_back(fmt::format("{} {}/{}:{}", text_of(one.kind), one.config, one.file, one.line));
  }
  EXPECT_EQ(found, (std::vector<std::string>{"never-updated k80_on_demand/2-demand/s.db:1",
                                             "truncated k80_spot/2-spot/train_data_processed.csv:4",
                                             "cost k80_spot/2-spot/cost.csv:3",
                                             "relabelled k80_spot/2-spot/vm_data.csv:2"}));
}

TEST_F(SmallData, TheHeatMapHoldsLivesAsPartsOfTheMasters) {
  const ConfigFacts* config = find_config(done_->analysis.configs, "k80_spot/2-spot");
  ASSERT_NE(config, nullptr);
  const std::vector<ServerLives> lives = server_lives(*config);
  ASSERT_EQ(lives.size(), 3u);
  EXPECT_EQ(lives[0].run, "us-east1-c run 2");
  EXPECT_NEAR(lives[0].parts[0], 4180.0 / 10'300, 1e-12);
  EXPECT_EQ(lives[0].parts[1], 1);
  EXPECT_EQ(lives[2].revoked, 0);
}

TEST_F(SmallData, TheSummaryBeginsWithTheVerdict) {
  const std::string text = summary_text(done_->data, done_->analysis);
  EXPECT_TRUE(text.starts_with("A second parameter server makes 8 V100 1.751 times as fast"))
      << text;
  EXPECT_NE(text.find("\n2 rows of results contradict others"), std::string::npos);
  EXPECT_NE(text.find("k80_spot/2-spot"), std::string::npos);
}

TEST(Analysis, APriceThatIsMissingIsNamed) {
  auto prices = published_prices();
  ASSERT_TRUE(prices.ok());
  PriceList without = prices.value();
  std::erase_if(without.offers, [](const Offer& offer) { return offer.gpu == "V100"; });
  const auto analysis = analyse({}, without);
  ASSERT_FALSE(analysis.ok());
  EXPECT_NE(analysis.error().message.find("no spot offer with one V100"), std::string::npos)
      << analysis.error().message;
}

// Cells of a table by table, configuration and metric.
using Table = std::vector<std::vector<std::string>>;

Table cells_of(const std::string& text) {
  Table table;
  std::size_t begin = 0;
  while (begin < text.size()) {
    const std::size_t end = std::min(text.find('\n', begin), text.size());
    const std::vector<std::string> cells =
        csv_names(std::string_view(text).substr(begin, end - begin));
    table.push_back(cells);
    begin = end + 1;
  }
  return table;
}

// Figures of the reference that come from a fit which stopped short of its minimum.
bool is_of_cap_fit(const std::vector<std::string>& row) {
  return row[0] == "ps_softmin" && (row[1] == "fit" || row[2] == "model_steps_per_s");
}

bool agrees(const std::string& expected, const std::string& value, double tolerance) {
  if (expected.empty()) return !value.empty();
  double left = 0, right = 0;
  const auto whole = [](const std::string& text, double& number) {
    const auto read = std::from_chars(text.data(), text.data() + text.size(), number);
    return read.ec == std::errc() && read.ptr == text.data() + text.size();
  };
  if (!whole(expected, left) || !whole(value, right)) return expected == value;
  return std::abs(left - right) <= tolerance * std::max(std::abs(left), 1e-300);
}

// A fit to few points may end elsewhere with another mathematical library.
bool is_fitted(const std::vector<std::string>& row) {
  return row[0] == "ps_softmin" || row[0] == "model";
}

TEST_F(SmallData, TheTableIsTheGoldenOne) {
  const std::string golden = std::string(ORRERY_SOURCE) + "/tests/golden/transient/small.csv";
  const std::string got = ::testing::TempDir() + "transient-small.csv";
  const std::string text = csv_of(done_->analysis.rows);
  ASSERT_TRUE(write_file_atomically(got, text).ok());
  const auto file = read_file(golden);
  ASSERT_TRUE(file.ok()) << file.error().message;
  const Table expected = cells_of(file.value()), ours = cells_of(text);
  ASSERT_EQ(expected.size(), ours.size()) << "compare " << golden << " with " << got;
  for (std::size_t i = 0; i < expected.size(); ++i) {
    ASSERT_EQ(ours[i].size(), 6u);
    ASSERT_EQ(std::vector(ours[i].begin(), ours[i].begin() + 3),
              std::vector(expected[i].begin(), expected[i].begin() + 3));
    EXPECT_TRUE(is_fitted(expected[i]) || agrees(expected[i][3], ours[i][3], 1e-6))
        << "line " << i + 1 << " of " << golden << " and " << got;
    EXPECT_EQ(ours[i][4], expected[i][4]) << "line " << i + 1;
  }
}

TEST(Analysis, EqualsThePublishedTableRowByRow) {
  const std::string shared = ORRERY_SHARED;
  if (!std::filesystem::exists(shared + "/data/transient") ||
      !std::filesystem::exists(shared + "/reference/transient.csv")) {
    GTEST_SKIP() << "no published data beside the checkout; nothing was tested";
  }
  const auto done = analysed({shared + "/data/transient", shared + "/data/cm-dare"});
  ASSERT_NE(done, nullptr);
  const auto reference = read_file(shared + "/reference/transient.csv");
  ASSERT_TRUE(reference.ok());
  std::string plain = reference.value();
  std::erase(plain, '\r');
  const Table expected = cells_of(plain), ours = cells_of(csv_of(done->analysis.rows));
  ASSERT_EQ(expected.size(), 2117u);
  ASSERT_GE(ours.size(), expected.size());
  for (std::size_t i = 1; i < expected.size(); ++i) {
    const std::vector<std::string>& want = expected[i];
    ASSERT_EQ(ours[i].size(), 6u);
    const std::string name = want[0] + "," + want[1] + "," + want[2];
    ASSERT_EQ(ours[i][0] + "," + ours[i][1] + "," + ours[i][2], name);
    EXPECT_TRUE(agrees(want[3], ours[i][3], is_of_cap_fit(want) ? 0.01 : 1e-6))
        << name << ": " << want[3] << " there, " << ours[i][3] << " here";
    EXPECT_EQ(ours[i][4], want[4]) << name;
  }
  // Our minimum of the same mean error lies below the reference's.
  EXPECT_LT(value_in(*done, "ps_softmin", "fit", "mape_pct"), 3.968650438);
  EXPECT_EQ(std::ranges::count_if(done->analysis.inconsistencies, spoils_results), 18);
}

TEST(Analysis, ChargesOfFourAndEightTransientServersAreMetExactly) {
  const std::string folder = std::string(ORRERY_SHARED) + "/data/transient";
  if (!std::filesystem::exists(folder)) {
    GTEST_SKIP() << "no published data at " << folder << "; nothing was tested";
  }
  const auto done = analysed({folder});
  ASSERT_NE(done, nullptr);
  for (const char* name : {"k80_spot/4-spot", "k80_spot/8-spot"}) {
    const ConfigFacts* config = find_config(done->analysis.configs, name);
    ASSERT_NE(config, nullptr);
    EXPECT_EQ(config->runs.size(), 32u);
    for (const RunFacts& run : config->runs) {
      ASSERT_TRUE(run.run->cost && run.cost_usd);
      EXPECT_NEAR(*run.cost_usd, run.run->cost->usd, 1e-9) << name << ' ' << run.run->cost->line;
    }
  }
}

}  // namespace
}  // namespace orrery
