#include "experiments/figures/comparison.h"

#include <gtest/gtest.h>

#include <utility>

namespace orrery {
namespace {

TEST(Comparison, IsToTheReferenceAndElseToThePublished) {
  EXPECT_NEAR(Comparison({.published = 2, .reference = 4, .ours = 5}).difference_pct().value(), 25,
              1e-9);
  EXPECT_NEAR(Comparison({.published = 2, .reference = {}, .ours = 1}).difference_pct().value(),
              -50, 1e-9);
  EXPECT_FALSE(Comparison({.published = {}, .reference = {}, .ours = 1}).difference_pct());
  EXPECT_FALSE(Comparison({.published = 1, .reference = 1, .ours = {}}).difference_pct());
  EXPECT_FALSE(Comparison({.published = 0, .reference = {}, .ours = 1}).difference_pct());
}

TEST(Comparison, WhatRoundingExplainsIsNoDifference) {
  Comparison row{.published = {}, .reference = 10.584, .ours = 10.58361};
  EXPECT_LT(row.difference_pct().value(), 0);
  row.rounding = 0.0005;
  EXPECT_EQ(row.difference_pct(), 0);
  EXPECT_EQ(difference_text(row), "same");
  row.ours = 10.5834;
  EXPECT_LT(row.difference_pct().value(), 0);
  row.published = std::exchange(row.reference, std::nullopt);
  row.ours = 10.58361;
  EXPECT_LT(row.difference_pct().value(), 0) << "rounding is that of the reference";
}

TEST(Comparison, TextHasAsManyDigitsAsMatter) {
  const auto off_by = [](double pct) {
    return difference_text({.published = {}, .reference = 100, .ours = 100 + pct});
  };
  EXPECT_EQ(off_by(0), "same");
  EXPECT_EQ(off_by(0.0005), "same");
  EXPECT_EQ(off_by(0.004), "+0.004 %");
  EXPECT_EQ(off_by(-16.388), "-16.39 %");
  EXPECT_EQ(off_by(250.4), "+250 %");
  EXPECT_EQ(difference_text({}), "-");
}

TEST(Tally, CountsWithAndWithoutAReferenceApart) {
  const Comparison rows[] = {{.published = 1, .reference = 1, .ours = 1},
                             {.published = 1, .reference = 1, .ours = 0.9},
                             {.published = 1, .reference = {}, .ours = 1.005},
                             {.published = 1, .reference = 1, .ours = {}}};
  const Tally with = tally(rows, true);
  EXPECT_EQ(with.compared, 2);
  EXPECT_EQ(with.same, 1);
  EXPECT_EQ(with.within_1_pct, 1);
  EXPECT_EQ(with.worst, 1U);
  const Tally without = tally(rows, false);
  EXPECT_EQ(without.compared, 1);
  EXPECT_EQ(without.same, 0);
  EXPECT_EQ(without.within_1_pct, 1);
  EXPECT_EQ(tally_text(without, rows, "values", "here"),
            "1 values: 0 the same, 1 within 1 %;\n  farthest +0.50 %: here\n");
  EXPECT_EQ(tally_text(tally({}, true), rows, "values", ""), "");
}

}  // namespace
}  // namespace orrery
