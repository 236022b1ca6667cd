#include <fmt/format.h>

#include <algorithm>
#include <cctype>

#include "experiments/figures/reproduce_synergy.h"
#include "report/page/chart.h"

namespace orrery::synergy {
namespace {

using Block = std::vector<const Row*>;  // of one figure and metric

constexpr double kHour_s = 3600;

std::optional<double> value(const Row& row, SemanticsKind world) {
  return world == SemanticsKind::Orrery ? row.by_our_rules : row.ours;
}

std::string rules(SemanticsKind world) { return fmt::format("{} rules", to_string(world)); }

// A panel a set-up and world, a group an order, a bar an allocator.
std::string bars(const Block& block, const std::vector<SemanticsKind>& worlds) {
  const Figure& figure = *block.front()->figure;
  BarChart chart{.title = std::string(metric_title(block.front()->metric)),
                 .series = {figure.allocators.begin(), figure.allocators.end()},
                 .panels = {}};
  for (const Setting& setting : figure.settings) {
    for (const SemanticsKind world : worlds) {
      auto& panel = chart.panels.emplace_back();
      panel.title = figure.settings.size() > 1 ? setting.label + ", " + rules(world) : rules(world);
      for (const std::string_view order : figure.orders) {
        auto& group = panel.groups.emplace_back();
        group.label = order;
        group.values.resize(figure.allocators.size());
        for (const Row* row : block) {
          if (row->setting != &setting || row->order != order) continue;
          const auto at = std::ranges::find(figure.allocators, row->allocator);
          group.values[static_cast<std::size_t>(at - figure.allocators.begin())] =
              value(*row, world);
        }
      }
    }
  }
  return svg(chart);
}

// Over the axis: a line an allocator, solid by the released rules and dashed by ours.
std::string lines(const Block& block, std::string_view order,
                  const std::vector<SemanticsKind>& worlds) {
  const Figure& figure = *block.front()->figure;
  LineChart chart{.title = fmt::format("{}, {}", metric_title(block.front()->metric), order),
                  .x_label = std::string(figure.axis),
                  .y_label = std::string(metric_title(block.front()->metric)),
                  .lines = {}};
  int colour = 0;
  for (const std::string_view allocator : figure.allocators) {
    for (const SemanticsKind world : worlds) {
      LineChart::Line line{fmt::format("{}+{}, {}", order, allocator, rules(world)),
                           {},
                           colour,
                           world == SemanticsKind::Orrery,
                           true};
      for (const Row* row : block) {
        if (row->order != order || row->allocator != allocator || row->setting->check) continue;
        if (const auto known = value(*row, world)) {
          line.points.emplace_back(row->setting->x, *known);
        }
      }
      if (!line.points.empty()) chart.lines.push_back(std::move(line));
    }
    ++colour;
  }
  return svg(chart);
}

using Pick = Series::Line Series::*;

std::string over_time(const Figure& figure, const Runs& runs, SemanticsKind world,
                      std::string_view what, Pick pick) {
  LineChart chart{
      .title = std::string(what), .x_label = "hours", .y_label = std::string(what), .lines = {}};
  int colour = 0;
  for (const std::string_view allocator : figure.allocators) {
    const std::string policy = fmt::format("{}+{}", figure.orders.front(), allocator);
    const auto run = runs.find({&figure.settings.front(), policy, world});
    const int own = colour++;
    if (run == runs.end()) continue;
    const Series& series = run->second.series;
    LineChart::Line line{policy, {}, own, false, false};
    for (std::size_t i = 0; i < (series.*pick).mean.size(); ++i) {
      line.points.emplace_back(
          (series.start_s + (static_cast<double>(i) + 0.5) * series.bucket_s) / kHour_s,
          100 * (series.*pick).mean[i]);
    }
    if (!line.points.empty()) chart.lines.push_back(std::move(line));
  }
  return chart.lines.empty() ? "" : svg(chart);
}

void add_over_time(const Figure& figure, const Runs& runs, const std::vector<SemanticsKind>& worlds,
                   std::vector<ReportFigure>& all) {
  struct Part {
    std::string_view name;
    Pick pick;
  };
  const Part parts[] = {{"CPUs held, per cent", &Series::cpu_use},
                        {"memory held, per cent", &Series::memory_use}};
  for (const SemanticsKind world : worlds) {
    for (const Part& part : parts) {
      std::string picture = over_time(figure, runs, world, part.name, part.pick);
      if (picture.empty()) continue;
      all.push_back({fmt::format("Over time: {}, {}", part.name, rules(world)),
                     "The static replay under FIFO. Each line ends where the last job does.",
                     std::move(picture)});
    }
  }
}

void add_figure(const Block& block, const std::vector<SemanticsKind>& worlds,
                std::vector<ReportFigure>& all) {
  const Figure& figure = *block.front()->figure;
  std::string caption = fmt::format("{}. {}", figure.title, figure.note);
  caption.front() = static_cast<char>(std::toupper(static_cast<unsigned char>(caption.front())));
  const std::string_view metric = metric_title(block.front()->metric);
  const bool has_lines = std::ranges::any_of(
      figure.settings, [](const Setting& setting) { return setting.x > 0 && !setting.check; });
  if (!has_lines) {
    all.push_back({fmt::format("{}: {}", heading(figure), metric), caption, bars(block, worlds)});
    return;
  }
  for (const std::string_view order : figure.orders) {
    all.push_back({fmt::format("{}: {}, {}", heading(figure), metric, order), caption,
                   lines(block, order, worlds)});
  }
}

}  // namespace

std::vector<ReportFigure> drawn(std::span<const Row> rows, const Runs& runs, const Worlds& shown) {
  std::vector<SemanticsKind> worlds;
  if (shown.published) worlds.push_back(SemanticsKind::Synergy);
  if (shown.ours) worlds.push_back(SemanticsKind::Orrery);
  std::vector<ReportFigure> all;
  for (const Figure& figure : figures()) {
    for (const Metric metric : figure.metrics) {
      Block block;
      for (const Row& row : rows) {
        if (row.figure == &figure && row.metric == metric) block.push_back(&row);
      }
      if (!block.empty()) add_figure(block, worlds, all);
    }
    if (is_share(figure.metrics.front())) add_over_time(figure, runs, worlds, all);
  }
  return all;
}

}  // namespace orrery::synergy
