#include <fmt/format.h>

#include <algorithm>
#include <cctype>

#include "experiments/figures/reproduce_elasticflow.h"
#include "report/page/chart.h"

namespace orrery::elasticflow {
namespace {

using Block = std::vector<const Row*>;

constexpr double kHour_s = 3600;

std::vector<std::string> series_of(const Worlds& worlds) {
  std::vector<std::string> names = {"published", "reference"};
  if (worlds.published) names.emplace_back("ours, as released");
  if (worlds.ours) names.emplace_back("ours, by our rules");
  return names;
}

std::string bars(const Block& block, const Worlds& worlds) {
  BarChart chart{.title = std::string(metric_title(block.front()->metric)),
                 .series = series_of(worlds),
                 .panels = {}};
  for (const Row* row : block) {
    // Without its trace a set-up has published values only; they stand in the table.
    if (row->gap == "not there") continue;
    if (chart.panels.empty() || chart.panels.back().title != row->setting->label) {
      chart.panels.push_back({std::string(row->setting->label), {}});
    }
    BarChart::Group group{std::string(shown_policy(row->shown).name),
                          {row->published, row->reference}};
    if (worlds.published) group.values.push_back(row->ours);
    if (worlds.ours) group.values.push_back(row->by_our_rules);
    chart.panels.back().groups.push_back(std::move(group));
  }
  return svg(chart);
}

// A line a policy and source, over what the figure has on its axis.
std::string curves(const Block& block, const Worlds& worlds) {
  LineChart chart{.title = std::string(metric_title(block.front()->metric)),
                  .x_label = "jobs without a deadline, in per cent",
                  .y_label = std::string(metric_title(block.front()->metric)),
                  .lines = {}};
  int colour = 0;
  for (const Shown shown : block.front()->figure->policies) {
    const std::string name(shown_policy(shown).name);
    LineChart::Line published{name + ", published", {}, colour, true, false};
    LineChart::Line ours{name + (worlds.published ? ", ours in that world" : ", by our rules"),
                         {},
                         colour,
                         false,
                         true};
    for (const Row* row : block) {
      if (row->shown != shown) continue;
      const auto& value = worlds.published ? row->ours : row->by_our_rules;
      if (row->published) published.points.emplace_back(row->setting->x, *row->published);
      if (value) ours.points.emplace_back(row->setting->x, *value);
    }
    if (!published.points.empty()) chart.lines.push_back(std::move(published));
    if (!ours.points.empty()) chart.lines.push_back(std::move(ours));
    ++colour;
  }
  return svg(chart);
}

std::string over_time(const Figure& figure, const Runs& runs, SemanticsKind world) {
  LineChart chart{.title = "cluster efficiency over time",
                  .x_label = "hours since the first submission",
                  .y_label = "cluster efficiency",
                  .lines = {}};
  int colour = 0;
  for (const Shown shown : figure.policies) {
    for (const auto& [key, run] : runs) {
      const auto& [setting, policy, semantics] = key;
      const Series& series = run.series;
      if (setting->figure != figure.name || policy != shown || semantics != world) continue;
      LineChart::Line line{std::string(shown_policy(shown).name), {}, colour, false, false};
      for (std::size_t i = 0; i < series.efficiency.mean.size(); ++i) {
        line.points.emplace_back((static_cast<double>(i) + 0.5) * series.bucket_s / kHour_s,
                                 series.efficiency.mean[i]);
      }
      if (!line.points.empty()) chart.lines.push_back(std::move(line));
    }
    ++colour;
  }
  return chart.lines.empty() ? "" : svg(chart);
}

void add_over_time(const Figure& figure, const Runs& runs, const Worlds& worlds,
                   std::vector<ReportFigure>& drawn) {
  for (const SemanticsKind world : kWorlds) {
    if (!(world == SemanticsKind::Orrery ? worlds.ours : worlds.published)) continue;
    std::string picture = over_time(figure, runs, world);
    if (picture.empty()) continue;
    drawn.push_back({fmt::format("Figure {}: cluster efficiency over time, {} rules", figure.name,
                                 to_string(world)),
                     "Work done, as the share of the GPUs that would do it one by one. Each line "
                     "ends where the last job does.",
                     std::move(picture)});
  }
}

std::string caption(const Figure& figure) {
  std::string line = fmt::format("{}. {}", figure.title, figure.note);
  std::ranges::replace(line, '\n', ' ');
  line[0] = static_cast<char>(std::toupper(static_cast<unsigned char>(line[0])));
  return line;
}

}  // namespace

std::vector<ReportFigure> drawn(std::span<const Row> rows, const Runs& runs, const Worlds& worlds) {
  std::vector<ReportFigure> all;
  for (const Figure& figure : figures()) {
    for (const Metric metric : figure.metrics) {
      Block block;
      for (const Row& row : rows) {
        if (row.figure == &figure && row.metric == metric) block.push_back(&row);
      }
      if (block.empty()) continue;
      const bool over_shares = block.front()->setting->x > 0;
      all.push_back({fmt::format("Figure {}: {}", figure.name, metric_title(metric)),
                     caption(figure), over_shares ? curves(block, worlds) : bars(block, worlds)});
      if (metric == Metric::Efficiency) add_over_time(figure, runs, worlds, all);
    }
  }
  return all;
}

}  // namespace orrery::elasticflow
