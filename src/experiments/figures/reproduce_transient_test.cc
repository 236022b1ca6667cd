#include "experiments/figures/reproduce_transient.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <string>
#include <vector>

#include "experiments/figures/transient_drawing.h"

namespace orrery {
namespace {

class PublishedRows : public ::testing::Test {
 protected:
  void SetUp() override {
    const std::vector<std::string> folders = {std::string(ORRERY_SHARED) + "/data/transient"};
    if (!std::filesystem::exists(folders[0])) {
      GTEST_SKIP() << "no published runs at " << folders[0] << "; nothing was tested";
    }
    auto data = read_published_data(folders);
    ASSERT_TRUE(data.ok()) << data.error().message;
    data_ = std::move(data).value();
    const auto prices = published_prices();
    ASSERT_TRUE(prices.ok());
    auto analysis = analyse(data_, prices.value());
    ASSERT_TRUE(analysis.ok()) << analysis.error().message;
    analysis_ = std::move(analysis).value();
    rows_ = transient_rows(data_, analysis_);
  }

  const TransientRow* find(const std::string& what) const {
    const auto found = std::ranges::find(rows_, what, &TransientRow::what);
    EXPECT_NE(found, rows_.end()) << what;
    return found == rows_.end() ? nullptr : &*found;
  }

  PublishedData data_;
  Analysis analysis_;
  std::vector<TransientRow> rows_;
};

TEST_F(PublishedRows, TheAbstractIsMet) {
  const TransientRow* speed = find("8 transient K80 over 1 K80: times as fast");
  const TransientRow* saving = find("8 transient K80 over 8 on-demand: % cheaper");
  ASSERT_TRUE(speed != nullptr && saving != nullptr);
  EXPECT_NEAR(*speed->reference, 7.65, 0.005);
  EXPECT_NEAR(*saving->reference, 63.0, 0.05);
  EXPECT_NEAR(*speed->ours, *speed->reference, 0.5);
}

TEST_F(PublishedRows, ThePageBeginsWithTheVerdictAndTheTextSaysWhatErrorsAreOf) {
  const std::string page = transient_page(data_, analysis_);
  EXPECT_NE(page.find("Training on transient servers, as published"), std::string::npos);
  EXPECT_NE(page.find("8 transient K80 train 7.65 times as fast"), std::string::npos);
  EXPECT_NE(transient_text(rows_).find("networks that the model has not seen"), std::string::npos);
}

TEST_F(PublishedRows, ModelsAreWithinFourteenPerCentOfEveryMeasuredTimeWithoutLosses) {
  std::size_t times = 0;
  for (const TransientRow& row : rows_) {
    if (!row.what.ends_with(": time, s") || !row.reference || !row.ours) continue;
    if (row.what.find("spot/2-spot") != std::string::npos) continue;  // five of its runs lost one
    EXPECT_LT(std::abs(*row.ours / *row.reference - 1), 0.14) << row.what;
    ++times;
  }
  EXPECT_EQ(times, 40u);
}

TEST_F(PublishedRows, RunsWithLossesArePredictedWithinThreePerCentInTheMean) {
  double sum = 0;
  int runs = 0;
  for (const TransientRow& row : rows_) {
    if (!row.what.ends_with("time with losses, s")) continue;
    sum += std::abs(*row.ours / *row.published - 1);
    ++runs;
  }
  EXPECT_EQ(runs, 20);
  EXPECT_LT(sum / runs, 0.03);
}

TEST_F(PublishedRows, EveryFigureIsDrawn) {
  const auto figures = transient_figures(data_, analysis_);
  for (const char* number : {"1", "3", "4", "5", "6", "7", "8"}) {
    EXPECT_TRUE(std::ranges::any_of(figures, [&](const ReportFigure& figure) {
      return figure.title.starts_with(std::string("Figure ") + number);
    })) << number;
  }
}

TEST(TransientText, ShowsWhatIsOffByHowMuch) {
  TransientRow row;
  row.figure = "3", row.what = "K80 revoked, %";
  row.published = 30, row.reference = 40, row.ours = 42;
  const std::string text = transient_text(std::vector{row});
  EXPECT_NE(text.find("Figure 3"), std::string::npos);
  EXPECT_NE(text.find("+5.00 %"), std::string::npos) << text;
}

}  // namespace
}  // namespace orrery
