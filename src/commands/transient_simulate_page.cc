#include "commands/transient_simulate_page.h"

#include <fmt/format.h>

#include <algorithm>
#include <vector>

#include "report/page/chart.h"
#include "report/page/html.h"
#include "report/page/scatter_chart.h"
#include "report/table.h"

namespace orrery {
namespace {

constexpr std::size_t kPointsMax = 500;  // of a policy

ScatterChart cost_against_time(std::span<const PolicyResult> results) {
  ScatterChart chart{.title = "Cost against time of each policy",
                     .x_label = "hours from the first request to the end",
                     .y_label = "USD",
                     .clouds = {}};
  for (const PolicyResult& result : results) {
    ScatterChart::Cloud cloud{.name = result.name, .points = {}};
    const std::size_t every = std::max<std::size_t>(1, result.runs.size() / kPointsMax);
    for (std::size_t i = 0; i < result.runs.size(); i += every) {
      const TransientOutcome& run = result.runs[i];
      if (run.finished) cloud.points.emplace_back((run.wait_s + run.train_s) / 3600, run.usd);
    }
    if (result.finished > 0) cloud.centre = {result.time_s.mean / 3600, result.usd.mean};
    chart.clouds.push_back(std::move(cloud));
  }
  return chart;
}

BarChart finished_runs(std::span<const PolicyResult> results) {
  BarChart chart{.title = "Runs that finish",
                 .series = {"runs that finish"},
                 .panels = {{.title = "% of runs", .groups = {}}}};
  for (const PolicyResult& result : results) {
    const double share = result.finished / static_cast<double>(result.runs.size());
    chart.panels[0].groups.push_back({.label = result.name, .values = {100 * share}});
  }
  return chart;
}

std::string finished_text(const PolicyResult& result) {
  if (result.finished == static_cast<int>(result.runs.size())) return "";
  return fmt::format(" ({:.0f} % of runs finish)",
                     100.0 * result.finished / static_cast<double>(result.runs.size()));
}

bool is_equal(const PolicyResult& a, const PolicyResult& b) {
  return a.time_s.mean == b.time_s.mean && a.usd_per_finished == b.usd_per_finished;
}

}  // namespace

std::string policies_verdict(std::span<const PolicyResult> results) {
  const std::vector<std::size_t> best = best_tradeoffs(results);
  if (best.empty()) return "No run of any policy finished.";
  std::string text;
  for (std::size_t at = 0; at < best.size(); ++at) {
    const PolicyResult& result = results[best[at]];
    const bool joins = at + 1 < best.size() && is_equal(result, results[best[at + 1]]);
    text += result.name;
    if (joins) {
      text += " and ";
      continue;
    }
    text += fmt::format(": {} and {:.3f} USD{}{}", human_duration(result.time_s.mean),
                        result.usd_per_finished, finished_text(result),
                        at + 1 < best.size() ? "; " : "");
  }
  const bool one = std::ranges::all_of(
      best, [&](std::size_t i) { return is_equal(results[i], results[best[0]]); });
  return (one ? "Fastest and cheapest at once is "
              : "Policies that no other beats, fastest first: ") +
         text + ".";
}

std::string simulate_page(std::span<const PolicyResult> results, const std::string& subtitle) {
  const std::vector<ReportFigure> figures = {
      {.title = "Cost against time",
       .caption = "A small mark is a finished run; a large one is the mean of a policy. Left and "
                  "below is better.",
       .svg = svg(cost_against_time(results))},
      {.title = "Runs that finish",
       .caption = "A run fails if it loses all workers, or its chief where no worker takes over.",
       .svg = svg(finished_runs(results))}};
  return html_report({}, figures,
                     {.title = "Replacement policies on transient servers",
                      .subtitle = subtitle,
                      .verdict = policies_verdict(results)});
}

}  // namespace orrery
