#include "experiments/figures/reproduce_muri.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <set>
#include <sstream>

#include "experiments/runs/runs.h"

namespace orrery {
namespace {

const FigureRow& row_of(int figure, std::string_view trace, Shown shown) {
  const auto row = std::ranges::find_if(muri_rows(), [&](const FigureRow& candidate) {
    return candidate.figure == figure && candidate.trace == trace && candidate.shown == shown;
  });
  EXPECT_NE(row, muri_rows().end());
  return *row;
}

ReproducedRow made(int figure, std::string_view trace, Shown shown, std::optional<double> ours) {
  const FigureRow& row = row_of(figure, trace, shown);
  ReproducedRow all;
  all.row = &row;
  all.metric = Metric::AvgJct;
  all.published = row.published[0];
  if (row.reference[0] != 0) all.reference = row.reference[0];
  all.ours = ours;
  return all;
}

std::string line_with(const std::string& text, std::string_view part) {
  std::istringstream lines(text);
  for (std::string line; std::getline(lines, line);) {
    if (line.find(part) != std::string::npos) return line;
  }
  return "";
}

TEST(MuriFigures, EveryRowIsThereOnceWithAPublishedAverage) {
  std::set<std::tuple<int, std::string_view, Shown>> seen;
  for (const FigureRow& row : muri_rows()) {
    EXPECT_TRUE(seen.insert({row.figure, row.trace, row.shown}).second) << row.trace;
    EXPECT_GT(row.published[0], 0) << row.figure << row.trace;
  }
  const auto count = [](int figure) {
    return std::ranges::count(muri_rows(), figure, &FigureRow::figure);
  };
  EXPECT_EQ(count(9), 3 * 8);
  EXPECT_EQ(count(10), 4 * 8);
  EXPECT_EQ(count(11), 3 * 4);
  EXPECT_EQ(count(12), 4 * 4);
  EXPECT_EQ(count(13), 4 * 4);
}

TEST(MuriFigures, TheReleasedCodeAndThePaperAgreeWhereMuriIsNotRun) {
  for (const FigureRow& row : muri_rows()) {
    const bool muri = shown_policy(row.shown).policy.starts_with("muri");
    if (muri || row.source != Source::Released) continue;
    for (std::size_t i = 0; i < kMetrics.size(); ++i) {
      if (row.reference[i] == 0) continue;
      EXPECT_NEAR(row.reference[i], row.published[i], 0.5001) << row.figure << row.trace;
    }
  }
}

TEST(MuriFigures, ThePaperGivesTheSameNumberWhereverItGivesItTwice) {
  for (const FigureRow& a : muri_rows()) {
    for (const FigureRow& b : muri_rows()) {
      const ShownPolicy& p = shown_policy(a.shown);
      const ShownPolicy& q = shown_policy(b.shown);
      if (muri_file(a.trace) != muri_file(b.trace) || p.policy != q.policy || p.value != q.value) {
        continue;
      }
      for (std::size_t i = 0; i < kMetrics.size(); ++i) {
        if (a.published[i] == 0 || b.published[i] == 0) continue;
        EXPECT_NEAR(a.published[i], b.published[i], 0.5001) << a.trace << ' ' << p.name;
      }
    }
  }
}

TEST(MuriFigures, EveryPolicyAndOptionExistsHere) {
  const auto workload = std::make_shared<const Workload>();
  const auto cluster = std::make_shared<const Cluster>();
  for (const FigureRow& row : muri_rows()) {
    const ShownPolicy& policy = shown_policy(row.shown);
    RunRequest request{
        .workload = workload,
        .cluster = cluster,
        .run = {.policy = {.name = std::string(policy.policy)}, .semantics = SemanticsKind::Muri}};
    if (!policy.key.empty()) request.run.policy.options.emplace(policy.key, policy.value);
    const Status status = check_setup(request);
    EXPECT_TRUE(status.ok()) << status.error().message;
  }
}

TEST(Reproduced, DifferenceIsToTheReferenceAndElseToThePublished) {
  // Published 85502.55, released code 83242.46.
  const ReproducedRow with = made(13, "job_type_4", Shown::MuriS, 83242.464513 * 1.02);
  EXPECT_NEAR(with.difference_pct().value(), 2, 1e-9);
  const ReproducedRow without = made(12, "trace3_pr", Shown::MuriL2, 1348968.422 * 0.99);
  EXPECT_FALSE(without.reference);
  EXPECT_NEAR(without.difference_pct().value(), -1, 1e-9);
  EXPECT_FALSE(made(9, "trace2", Shown::Srtf, std::nullopt).difference_pct());
}

TEST(Reproduced, TextShowsAllThreeAndTheRatioToMuri) {
  const std::vector<ReproducedRow> rows = {made(9, "trace1", Shown::Srtf, 1370603.197651),
                                           made(9, "trace1", Shown::MuriS, 799916.189824 * 1.05),
                                           made(9, "trace2", Shown::Srtf, std::nullopt)};
  const std::string text = reproduced_text(rows);
  EXPECT_EQ(line_with(text, "SRTF   "),
            "trace1  SRTF      1370603    1370603   1370603     same   1.58  1.63")
      << text;
  EXPECT_EQ(line_with(text, "Muri-S  "), "        Muri-S     867706     799916*   839912  +5.00 %")
      << text;
  EXPECT_NE(line_with(text, "* a prototype"), "") << text;
  EXPECT_EQ(line_with(text, "+ the released"), "") << text;
  EXPECT_NE(line_with(text, "2 values with a reference: 1 the same, 1 within 1 %"), "") << text;
  EXPECT_NE(line_with(text, "trace2 ").find(" -"), std::string::npos) << text;
}

TEST(Reproduced, TextFitsEightyColumns) {
  std::vector<ReproducedRow> rows;
  for (const FigureRow& row : muri_rows()) {
    for (const Metric metric : kMetrics) {
      ReproducedRow& all = rows.emplace_back(made(row.figure, row.trace, row.shown, 0));
      all.metric = metric;
      all.published = std::max(row.published[static_cast<std::size_t>(metric)], 40000000.0);
      all.reference = all.published;
      all.ours = *all.published * 2.18;
    }
  }
  std::istringstream lines(reproduced_text(rows));
  for (std::string line; std::getline(lines, line);) EXPECT_LE(line.size(), 80U) << line;
}

TEST(Reproduced, JsonHasNullWhereThereIsNothing) {
  std::vector<ReproducedRow> rows = {made(9, "trace2", Shown::Srtf, std::nullopt)};
  rows[0].note = "no trace2.csv in here";
  const auto json = nlohmann::ordered_json::parse(reproduced_json("muri", rows));
  EXPECT_EQ(json["system"], "muri");
  const auto& row = json["rows"][0];
  std::vector<std::string> keys;
  for (const auto& [key, value] : row.items()) keys.push_back(key);
  EXPECT_EQ(keys, (std::vector<std::string>{"figure", "trace", "policy", "metric", "published",
                                            "reference", "ours", "difference_pct", "note"}));
  EXPECT_EQ(row["figure"], 9);
  EXPECT_EQ(row["policy"], "SRTF");
  EXPECT_EQ(row["metric"], "avg_jct_s");
  EXPECT_EQ(row["published"], 2665607);
  EXPECT_TRUE(row["reference"].is_null());
  EXPECT_TRUE(row["ours"].is_null());
  EXPECT_TRUE(row["difference_pct"].is_null());
  EXPECT_EQ(row["note"], "no trace2.csv in here");
}

}  // namespace
}  // namespace orrery
