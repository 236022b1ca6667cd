#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>

#include "base/grid.h"
#include "base/output_file.h"
#include "base/plain_text.h"
#include "experiments/sweep/sweep_statistics.h"
#include "report/csv.h"
#include "report/table.h"

namespace orrery {
namespace {

std::string number(const std::optional<double>& value) {
  return value && std::isfinite(*value) ? fmt::format("{}", *value) : "";
}

void append_interval(std::vector<std::string>& cells,
                     const std::optional<ConfidenceInterval>& interval) {
  cells.push_back(interval ? number(interval->low) : "");
  cells.push_back(interval ? number(interval->high) : "");
}

std::string_view label_of(const SweepPlan& plan, const SweepGroup& group, std::size_t axis) {
  const std::size_t value = group.values[axis];
  return value == kNoValue ? std::string_view()
                           : std::string_view(plan.axes[axis].values[value].label);
}

struct Columns {
  std::vector<GridColumn> titles;
  std::vector<std::vector<std::string>> rows;

  explicit Columns(std::size_t count) : rows(count) {}

  template <class Cell>
  void add(std::string title, bool left, std::span<const SweepGroup> groups, Cell cell) {
    titles.push_back({.title = plain_text(title), .left = left});
    for (std::size_t i = 0; i < rows.size(); ++i) rows[i].push_back(plain_text(cell(groups[i])));
  }

  std::string text() const { return grid(titles, rows); }
};

std::size_t width_of(std::string_view text) {
  std::size_t width = 0;
  while (!text.empty()) {
    const std::size_t end = std::min(text.find('\n'), text.size());
    width = std::max(width, columns_of(text.substr(0, end)));
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  return width;
}

// With the first `metrics` of the list.
std::string table_of(const SweepPlan& plan, std::span<const SweepGroup> groups,
                     std::span<const std::string> metrics) {
  Columns columns(groups.size());
  for (std::size_t axis = 0; axis < plan.axes.size(); ++axis) {
    if (plan.axes[axis].values.size() < 2 || plan.seed_axis == axis) continue;
    columns.add(plan.axes[axis].name, true, groups,
                [&](const SweepGroup& group) { return label_of(plan, group, axis); });
  }
  columns.add("runs", false, groups,
              [](const SweepGroup& group) { return fmt::to_string(group.runs.size()); });
  if (some_refused(groups)) {
    columns.add("refused", false, groups, [](const SweepGroup& group) {
      const SweepFigure* rejected = group.figure("rejected");
      return rejected == nullptr ? "-" : fmt::format("{:.4g}", rejected->mean);
    });
  }
  for (const std::string& metric : metrics) {
    columns.add(metric, false, groups,
                [&](const SweepGroup& group) { return figure_text(metric, group.figure(metric)); });
    if (plan.baseline.empty()) continue;
    columns.add("vs " + plan.baseline_text(), true, groups,
                [&](const SweepGroup& group) { return change_text(group.figure(metric)); });
  }
  return columns.text();
}

}  // namespace

std::string figure_text(std::string_view metric, const SweepFigure* figure) {
  if (figure == nullptr) return "-";
  const std::string mean = metric_text(metric, figure->mean);
  if (!figure->of_mean) return mean;
  return fmt::format("{} [{}, {}]", mean, metric_text(metric, figure->of_mean->low),
                     metric_text(metric, figure->of_mean->high));
}

std::string change_text(const SweepFigure* figure) {
  if (figure == nullptr || !figure->change) return "";
  if (!figure->of_change) return fmt::format("{:+.1f} %", *figure->change * 100);
  return fmt::format("{:+.1f} % [{:+.1f}, {:+.1f}]", *figure->change * 100,
                     figure->of_change->low * 100, figure->of_change->high * 100);
}

bool some_refused(std::span<const SweepGroup> groups) {
  return std::ranges::any_of(groups, [](const SweepGroup& group) {
    const SweepFigure* rejected = group.figure("rejected");
    return rejected != nullptr && rejected->mean > 0;
  });
}

std::vector<std::string> shown_metrics(const SweepPlan& plan, const SweepStatistics& statistics) {
  if (!plan.report.metrics.empty()) return plan.report.metrics;
  std::vector<std::string> metrics;
  for (const char* metric : {"avg_jct_s", "p99_jct_s", "deadline_ratio", "unfair_ratio"}) {
    const auto& known = statistics.metrics;
    if (std::ranges::find(known, metric) != known.end()) metrics.emplace_back(metric);
  }
  return metrics;
}

std::string metric_text(std::string_view metric, double value) {
  if (metric.ends_with("_gpu_s")) return fmt::format("{:.4g}", value);
  if (metric.ends_with("_s")) return human_duration(value);
  if (metric.ends_with("_ratio") || metric.ends_with("utilisation") ||
      metric == "cluster_efficiency" || metric == "goodput") {
    return fmt::format("{:.1f} %", value * 100);
  }
  return fmt::format("{:.4g}", value);
}

Status write_summary_csv(const std::string& path, const SweepPlan& plan,
                         const SweepStatistics& statistics) {
  std::vector<std::string> cells;
  for (std::size_t axis = 0; axis < plan.axes.size(); ++axis) {
    if (plan.seed_axis != axis) cells.push_back(plan.column(axis));
  }
  for (const char* name :
       {"metric", "runs", "mean", "median", "low", "high", "baseline", "pairs", "difference",
        "difference_low", "difference_high", "change", "change_low", "change_high"}) {
    cells.emplace_back(name);
  }
  TRY_ASSIGN(OutputFile file, OutputFile::open(path));
  TRY(file.write(csv_line(cells)));
  for (const SweepGroup& group : statistics.groups) {
    for (const std::string& metric : statistics.metrics) {
      const SweepFigure* figure = group.figure(metric);
      if (figure == nullptr) continue;
      cells.clear();
      for (std::size_t axis = 0; axis < plan.axes.size(); ++axis) {
        if (plan.seed_axis != axis) cells.emplace_back(label_of(plan, group, axis));
      }
      cells.push_back(metric);
      cells.push_back(fmt::to_string(figure->count));
      cells.push_back(number(figure->mean));
      cells.push_back(number(figure->median));
      append_interval(cells, figure->of_mean);
      cells.push_back(figure->pairs > 0 ? plan.baseline_text() : "");
      cells.push_back(fmt::to_string(figure->pairs));
      cells.push_back(figure->pairs > 0 ? number(figure->difference) : "");
      append_interval(cells, figure->of_difference);
      cells.push_back(number(figure->change));
      append_interval(cells, figure->of_change);
      TRY(file.write(csv_line(cells)));
    }
  }
  return file.commit();
}

std::string sweep_table(const SweepPlan& plan, const SweepStatistics& statistics, int width,
                        std::size_t rows) {
  const std::vector<std::string> metrics = shown_metrics(plan, statistics);
  const std::span<const SweepGroup> groups =
      std::span(statistics.groups).first(std::min(rows, statistics.groups.size()));
  std::size_t shown = metrics.size();
  std::string text = table_of(plan, groups, metrics);
  while (shown > 1 && width_of(text) > static_cast<std::size_t>(width)) {
    text = table_of(plan, groups, std::span(metrics).first(--shown));
  }
  if (shown < metrics.size()) {
    text += fmt::format("(left out, too narrow: {})\n",
                        fmt::join(std::span(metrics).subspan(shown), ", "));
  }
  if (groups.size() < statistics.groups.size()) {
    text +=
        fmt::format("({} more rows in summary.csv)\n", statistics.groups.size() - groups.size());
  }
  return text;
}

}  // namespace orrery
