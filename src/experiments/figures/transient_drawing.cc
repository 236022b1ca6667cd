#include "experiments/figures/transient_drawing.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <charconv>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "cloud/analysis/server_lives.h"
#include "cloud/analysis/summary_text.h"
#include "report/page/chart.h"
#include "report/page/heat_map.h"

namespace orrery {
namespace {

using Figures = std::vector<ReportFigure>;
using Rows = std::vector<AnalysisRow>;

constexpr std::int64_t kLate = 35'000;  // steps, when the rate has fallen for the first time

std::optional<double> number(const Rows& rows, std::string_view table, std::string_view config,
                             std::string_view metric) {
  const auto text = value_of(rows, table, config, metric);
  double value = 0;
  if (!text ||
      std::from_chars(text->data(), text->data() + text->size(), value).ec != std::errc()) {
    return std::nullopt;
  }
  return value;
}

// Rows are servers, the one with the longest life on top.
void add_run(HeatMap& map, ServerLives lives) {
  map.columns.push_back(std::move(lives.run));
  while (map.rows.size() < lives.parts.size()) {
    map.rows.push_back(fmt::format("{}", map.rows.size() + 1));
    map.values.emplace_back(map.columns.size() - 1, 0.0);
  }
  std::ranges::sort(lives.parts, std::ranges::greater());
  lives.parts.resize(map.rows.size(), 0.0);
  for (std::size_t row = 0; row < map.rows.size(); ++row) {
    map.values[row].push_back(lives.parts[row]);
  }
}

void add_lives(const Analysis& analysis, Figures& figures) {
  for (const auto& [config, title] :
       {std::pair("k80_spot/4-spot", "Figure 1: lives of the servers of 4 transient K80"),
        std::pair("k80_spot/8-spot", "Figure 4: lives of the servers of 8 transient K80")}) {
    const ConfigFacts* facts = find_config(analysis.configs, config);
    if (facts == nullptr || facts->training->folder.servers.empty()) continue;
    HeatMap map{.title = title, .row_label = "server", .column_label = "run"};
    int revoked = 0;
    for (ServerLives& lives : server_lives(*facts)) {
      revoked += lives.revoked;
      add_run(map, std::move(lives));
    }
    figures.push_back(
        {title,
         fmt::format("{} runs, {} servers revoked. A cell is a server's life as a part of the "
                     "master's; a server that was not revoked is full.",
                     map.columns.size(), revoked),
         svg(map)});
  }
}

void add_lifetimes(const Rows& rows, Figures& figures) {
  LineChart chart{.title = "Share of servers revoked by age",
                  .x_label = "age in hours",
                  .y_label = "% revoked",
                  .lines = {}};
  int colour = 0;
  const auto add = [&](std::string_view table, std::string_view config, std::string name,
                       bool dashed) {
    LineChart::Line line{std::move(name), {{0, 0}}, colour, dashed, false};
    for (int hour = 1; hour <= 24; ++hour) {
      const auto share = number(rows, table, config, fmt::format("F({}h)", hour));
      if (!share) return;
      line.points.emplace_back(hour - 1e-9, line.points.back().second);
      line.points.emplace_back(hour, 100 * *share);
    }
    chart.lines.push_back(std::move(line));
  };
  for (const std::string_view group : {"K80 all", "P100 2019", "V100 2019", "CPU(PS) 2018"}) {
    add("lifetime_cdf", group, std::string(group), false);
    const std::string pooled =
        fmt::format("{} with training servers", group.substr(0, group.find(' ')));
    add("lifetime_km", pooled, pooled + " (Kaplan-Meier)", true);
    ++colour;
  }
  if (chart.lines.empty()) return;
  figures.push_back(
      {"Figure 3: lifetimes",
       "Dashed: with the servers that trained, those that were not revoked counted as long as they "
       "were watched. The published curves of P100 and V100 added the revoked ones only.",
       svg(chart)});
}

void add_rates(const PublishedData& data, Figures& figures) {
  LineChart chart{.title = "Accuracy under three rules for the learning rate",
                  .x_label = "thousands of steps",
                  .y_label = "accuracy in %",
                  .lines = {}};
  constexpr std::pair<std::string_view, std::string_view> kNames[] = {
      {"lr_baseline", "one K80"},
      {"lr_case1", "1 to 4 K80, rate of the slots (naive)"},
      {"lr_case2", "1 to 4 K80, rate by membership (adaptive)"}};
  LineChart late{.title = "Errors at the end",
                 .x_label = "thousands of steps",
                 .y_label = "errors in %",
                 .lines = {}};
  int colour = 0;
  for (const RateSeries& series : data.rates) {
    std::string name = series.name;
    for (const auto& [file, shown] : kNames) {
      if (file == series.name) name = shown;
    }
    LineChart::Line line{std::move(name), {}, colour++, false, true};
    LineChart::Line end{line.name, {}, line.colour, false, true};
    for (const SeriesPoint& point : series.evaluations) {
      const double thousands = static_cast<double>(point.step) / 1000;
      line.points.emplace_back(thousands, 100 * point.value);
      if (point.step >= kLate) end.points.emplace_back(thousands, 100 * (1 - point.value));
    }
    chart.lines.push_back(std::move(line));
    late.lines.push_back(std::move(end));
  }
  if (chart.lines.empty()) return;
  figures.push_back({"Figure 5: adaptive learning rate",
                     "Workers join after 16, 32 and 48 thousand steps.", svg(chart)});
  figures.push_back({"Figure 5, the end: errors after the first fall of the learning rate",
                     "The adaptive rate recovers most of what the naive one loses.", svg(late)});
}

void add_servers(const Rows& rows, Figures& figures) {
  LineChart chart{.title = "Speed over the number of workers",
                  .x_label = "workers",
                  .y_label = "steps a second",
                  .lines = {}};
  int colour = 0;
  for (const auto& [letter, gpu] : {std::pair('v', "V100"), std::pair('k', "K80")}) {
    for (const int servers : {1, 2}) {
      LineChart::Line measured{fmt::format("{}, {} PS", gpu, servers), {}, colour, false, true};
      LineChart::Line model{fmt::format("{}, {} PS, model", gpu, servers), {}, colour, true, false};
      for (int workers = 2; workers <= 8; ++workers) {
        const std::string config = fmt::format("{}ps{}{}", servers, workers, letter);
        const auto seen = number(rows, "ps_softmin", config, "measured_steps_per_s");
        const auto fitted = number(rows, "ps_softmin", config, "model_steps_per_s");
        if (seen) measured.points.emplace_back(workers, *seen);
        if (fitted) model.points.emplace_back(workers, *fitted);
      }
      if (!measured.points.empty()) {
        chart.lines.push_back(std::move(measured));
        chart.lines.push_back(std::move(model));
      }
      ++colour;
    }
  }
  if (chart.lines.empty()) return;
  figures.push_back({"Figure 6: one and two parameter servers",
                     "The model is a soft minimum of the workers' sum and a cap of the servers.",
                     svg(chart)});
}

void add_regions(const Rows& rows, Figures& figures) {
  BarChart chart{.title = "Four workers across regions",
                 .series = {"K80", "P100"},
                 .panels = {{"% longer than in one zone", {}}}};
  for (const std::string_view name : {"3e1c", "2e2c", "2e1c1w"}) {
    BarChart::Group group{std::string(name),
                          {number(rows, "cross_region", fmt::format("{} K80", name),
                                  "slowdown_pct_vs_4k80_ondemand_one_zone"),
                           number(rows, "cross_region", fmt::format("{} P100", name),
                                  "slowdown_pct_vs_4p100_one_zone")}};
    if (group.values[0] || group.values[1]) chart.panels[0].groups.push_back(std::move(group));
  }
  if (chart.panels[0].groups.empty()) return;
  figures.push_back({"Figure 7: training across regions",
                     "Workers in us-east (e), us-central (c) and us-west (w).", svg(chart)});
}

void add_mixed(const Rows& rows, Figures& figures) {
  BarChart time{.title = "Time of mixed clusters", .series = {"hours"}, .panels = {{"time", {}}}};
  BarChart cost{.title = "Cost of mixed clusters", .series = {"USD"}, .panels = {{"cost", {}}}};
  constexpr std::pair<std::string_view, std::string_view> kConfigs[] = {
      {"k80_spot/4-spot", "4 K80"},
      {"experiment_mixed_gpu/1v1p2k", "1 V, 1 P, 2 K"},
      {"experiment_mixed_gpu/1v2p1k", "1 V, 2 P, 1 K"},
      {"experiment_mixed_gpu/2v1p1k", "2 V, 1 P, 1 K"},
      {"p100_v100_spot/4p100", "4 P100"},
      {"p100_v100_spot/4v100", "4 V100"}};
  for (const auto& [config, label] : kConfigs) {
    auto seconds = number(rows, "training", config, "duration_s_mean");
    const auto usd = number(rows, "training", config, "cost_nominal_usd_mean");
    if (!seconds || !usd) continue;
    time.panels[0].groups.push_back({std::string(label), {*seconds / 3600}});
    cost.panels[0].groups.push_back({std::string(label), {*usd}});
  }
  if (time.panels[0].groups.empty()) return;
  figures.push_back(
      {"Figure 8: mixed GPUs, time", "Transient servers, one parameter server.", svg(time)});
  figures.push_back({"Figure 8: mixed GPUs, cost", "All servers for the whole time.", svg(cost)});
}

void add_costs(const Rows& rows, Figures& figures) {
  BarChart chart{.title = "Cost of K80 clusters",
                 .series = {"on-demand", "transient"},
                 .panels = {{"USD for 64,000 steps", {}}}};
  for (const int workers : {2, 4, 8}) {
    BarChart::Group group{
        fmt::format("{} K80", workers),
        {number(rows, "training", fmt::format("k80_on_demand/{}-demand", workers),
                "cost_file_usd_mean"),
         number(rows, "training", fmt::format("k80_spot/{}-spot", workers), "cost_file_usd_mean")}};
    if (group.values[0] || group.values[1]) chart.panels[0].groups.push_back(std::move(group));
  }
  if (chart.panels[0].groups.empty()) return;
  figures.push_back(
      {"Transient against on-demand", "Means of completed runs, as charged.", svg(chart)});
}

}  // namespace

Figures transient_figures(const PublishedData& data, const Analysis& analysis) {
  Figures figures;
  add_costs(analysis.rows, figures);
  add_lives(analysis, figures);
  add_lifetimes(analysis.rows, figures);
  add_rates(data, figures);
  add_servers(analysis.rows, figures);
  add_regions(analysis.rows, figures);
  add_mixed(analysis.rows, figures);
  return figures;
}

std::string transient_page(const PublishedData& data, const Analysis& analysis) {
  const std::string verdict = verdict_text(analysis);
  return html_report({}, transient_figures(data, analysis),
                     {.title = "Training on transient servers, as published",
                      .subtitle = fmt::format("Measurements of Transient-DL and CM-DARE in {}",
                                              fmt::join(data.folders, ", ")),
                      .verdict = verdict.substr(0, verdict.find('\n'))});
}

}  // namespace orrery
