#include "experiments/sweep/sweep_page.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <limits>
#include <map>

#include "report/page/chart.h"
#include "report/page/heat_map.h"
#include "report/page/html.h"
#include "report/page/interval_chart.h"
#include "report/page/scatter_chart.h"

namespace orrery {
namespace {

constexpr std::size_t kPanelsMax = 12;  // of a metric: other axes beside x and the lines
constexpr std::size_t kRowsMax = 500;   // of the table
constexpr double kHour_s = 3600;

std::optional<double> number_in(const std::string& text) {
  double value = 0;
  const auto read = std::from_chars(text.data(), text.data() + text.size(), value);
  if (read.ec != std::errc() || read.ptr != text.data() + text.size()) return std::nullopt;
  return value;
}

bool is_numeric(const SweepAxis& axis) {
  return std::ranges::all_of(
      axis.values, [](const SweepValue& value) { return number_in(value.label).has_value(); });
}

bool more_is_better(std::string_view metric) {
  constexpr std::string_view kMore[] = {"completed",          "deadline_ratio",  "deadlines_met",
                                        "cluster_efficiency", "gpu_utilisation", "cpu_utilisation",
                                        "memory_utilisation", "goodput",         "jain_index",
                                        "soft_value_won",     "promises"};
  return std::ranges::find(kMore, metric) != std::end(kMore);
}

// Times are drawn in hours.
bool is_time(std::string_view metric) {
  return metric.ends_with("_s") && !metric.ends_with("_gpu_s");
}
double drawn(std::string_view metric, double value) {
  return is_time(metric) ? value / kHour_s : value;
}
std::string axis_title(std::string_view metric) {
  if (!is_time(metric)) return std::string(metric);
  return fmt::format("{}, hours", metric.substr(0, metric.size() - 2));
}

class SweepPage {
 public:
  SweepPage(const SweepPlan& plan, const SweepStatistics& statistics)
      : plan_(plan),
        statistics_(statistics),
        metrics_(shown_metrics(plan, statistics)),
        refuses_(some_refused(statistics.groups)) {
    choose_axes();
    split();
  }

  std::vector<ReportFigure> figures() const {
    std::vector<ReportFigure> figures;
    for (const std::string& metric : metrics_) {
      for (const auto& [title, groups] : panels_) {
        figures.push_back(over_x(metric, title, groups));
      }
    }
    if (x_ && lines_) {
      for (const std::string& metric : metrics_) {
        if (auto figure = heat(metric)) figures.push_back(*std::move(figure));
      }
    }
    if (const auto pair = pareto_metrics()) figures.push_back(pareto(pair->first, pair->second));
    figures.push_back(table());
    return figures;
  }

  std::string verdict() const {
    if (metrics_.empty() || !lines_) return "";
    std::map<std::size_t, int> wins;
    int settings = 0;
    for (const auto& [values, groups] : settings_) {
      const SweepGroup* best = nullptr;
      for (const SweepGroup* group : groups) {
        const SweepFigure* figure = group->figure(metrics_[0]);
        if (figure == nullptr) continue;
        if (best == nullptr || is_better(metrics_[0], *figure, *best->figure(metrics_[0]))) {
          best = group;
        }
      }
      if (best == nullptr || groups.size() < 2) continue;
      ++settings;
      ++wins[best->values[*lines_]];
    }
    if (settings == 0) return "";
    std::vector<std::string> parts;
    for (const auto& [value, count] : wins) {
      parts.push_back(fmt::format("{} in {} of {}", label(*lines_, value), count, settings));
    }
    return fmt::format("Best mean of {}: {} settings.", metrics_[0], fmt::join(parts, ", "));
  }

 private:
  using Groups = std::vector<const SweepGroup*>;

  static bool is_better(std::string_view metric, const SweepFigure& a, const SweepFigure& b) {
    return more_is_better(metric) ? a.mean > b.mean : a.mean < b.mean;
  }

  std::string label(std::size_t axis, std::size_t value) const {
    return value == kNoValue ? "none" : plan_.axes[axis].values[value].label;
  }

  bool is_swept(std::size_t axis) const {
    return plan_.axes[axis].values.size() > 1 && plan_.seed_axis != axis;
  }

  // x: as asked for, or the axis of numbers with the most values. Lines: likewise, or the policy,
  // or another one.
  void choose_axes() {
    if (!plan_.report.x.empty()) x_ = find(plan_.report.x);
    if (!plan_.report.lines.empty()) lines_ = find(plan_.report.lines);
    const auto choose = [&](bool numeric, std::optional<std::size_t> other) {
      std::optional<std::size_t> best;
      for (std::size_t axis = 0; axis < plan_.axes.size(); ++axis) {
        if (!is_swept(axis) || axis == other || is_numeric(plan_.axes[axis]) != numeric) continue;
        if (!best || plan_.axes[axis].values.size() > plan_.axes[*best].values.size()) best = axis;
      }
      return best;
    };
    if (!x_) x_ = choose(true, lines_);
    const auto policy = find("policy");
    if (!lines_ && policy && policy != x_ && is_swept(*policy)) lines_ = policy;
    if (!lines_) lines_ = choose(false, x_);
    if (!lines_) lines_ = choose(true, x_);
    if (!x_) x_ = choose(false, lines_);
    if (!x_) std::swap(x_, lines_);
  }

  std::optional<std::size_t> find(std::string_view name) const {
    const auto axis = std::ranges::find(plan_.axes, name, &SweepAxis::name);
    if (axis == plan_.axes.end()) return std::nullopt;
    return static_cast<std::size_t>(axis - plan_.axes.begin());
  }

  // By the values of all other axes; and by those and x.
  void split() {
    std::map<std::vector<std::size_t>, std::size_t> places;
    for (const SweepGroup& group : statistics_.groups) {
      std::vector<std::size_t> rest = group.values;
      if (lines_) rest[*lines_] = kNoValue;
      settings_[lines_ ? rest : std::vector<std::size_t>()].push_back(&group);
      if (x_) rest[*x_] = kNoValue;
      const auto [place, is_new] = places.emplace(rest, panels_.size());
      if (is_new && panels_.size() == kPanelsMax) places.erase(place);
      if (is_new && panels_.size() == kPanelsMax) continue;
      if (is_new) panels_.emplace_back(text_of(rest), Groups());
      panels_[place->second].second.push_back(&group);
    }
  }

  std::string text_of(const std::vector<std::size_t>& values) const {
    std::vector<std::string> parts;
    for (std::size_t axis = 0; axis < values.size(); ++axis) {
      if (values[axis] == kNoValue || !is_swept(axis)) continue;
      parts.push_back(fmt::format("{} {}", plan_.axes[axis].name, label(axis, values[axis])));
    }
    return fmt::format("{}", fmt::join(parts, ", "));
  }

  std::string x_name() const { return x_ ? plan_.axes[*x_].name : ""; }

  ReportFigure over_x(const std::string& metric, const std::string& panel,
                      const Groups& groups) const {
    IntervalChart chart{.title = metric, .x_label = x_name(), .y_label = axis_title(metric)};
    const bool numeric = x_ && is_numeric(plan_.axes[*x_]);
    if (!numeric) {
      if (!x_) chart.x_names.emplace_back("all runs");
      for (std::size_t i = 0; x_ && i < plan_.axes[*x_].values.size(); ++i) {
        chart.x_names.push_back(label(*x_, i));
      }
    }
    std::map<std::size_t, IntervalChart::Line> lines;
    for (const SweepGroup* group : groups) {
      const SweepFigure* figure = group->figure(metric);
      const std::size_t value = x_ ? group->values[*x_] : 0;
      if (figure == nullptr || value == kNoValue) continue;
      const double mean = drawn(metric, figure->mean);
      IntervalChart::Point point{
          .x = numeric ? *number_in(label(*x_, value)) : static_cast<double>(value),
          .y = mean,
          .low = mean,
          .high = mean};
      if (figure->of_mean) {
        point.low = drawn(metric, figure->of_mean->low);
        point.high = drawn(metric, figure->of_mean->high);
      }
      const std::size_t line = lines_ ? group->values[*lines_] : 0;
      lines[line].name = lines_ ? label(*lines_, line) : "mean";
      lines[line].points.push_back(point);
    }
    for (auto& [value, line] : lines) {
      std::ranges::sort(line.points, {}, &IntervalChart::Point::x);
      chart.lines.push_back(std::move(line));
    }
    std::string title = x_ ? fmt::format("{} over {}", metric, x_name()) : metric;
    if (!panel.empty()) title += ": " + panel;
    return {.title = std::move(title),
            .caption = fmt::format("Means over the runs that differ in their seeds, with intervals "
                                   "of 95 %. {} is better.",
                                   more_is_better(metric) ? "More" : "Less"),
            .svg = svg(chart)};
  }

  std::optional<ReportFigure> heat(const std::string& metric) const {
    if (panels_.empty()) return std::nullopt;
    const auto& [panel, groups] = panels_.front();
    HeatMap map{.title = metric,
                .row_label = plan_.axes[*lines_].name,
                .column_label = plan_.axes[*x_].name,
                .low = std::numeric_limits<double>::infinity(),
                .high = -std::numeric_limits<double>::infinity()};
    for (const SweepValue& value : plan_.axes[*lines_].values) map.rows.push_back(value.label);
    for (const SweepValue& value : plan_.axes[*x_].values) map.columns.push_back(value.label);
    map.values.assign(
        map.rows.size(),
        std::vector<double>(map.columns.size(), std::numeric_limits<double>::quiet_NaN()));
    for (const SweepGroup* group : groups) {
      const SweepFigure* figure = group->figure(metric);
      const std::size_t row = group->values[*lines_];
      const std::size_t column = group->values[*x_];
      if (figure == nullptr || row == kNoValue || column == kNoValue) continue;
      const double value = drawn(metric, figure->mean);
      map.values[row][column] = value;
      map.low = std::min(map.low, value);
      map.high = std::max(map.high, value);
    }
    if (!(map.low <= map.high)) return std::nullopt;
    return ReportFigure{
        .title = fmt::format("{} by {} and {}{}{}", axis_title(metric), map.row_label,
                             map.column_label, panel.empty() ? "" : ": ", panel),
        .caption = fmt::format("Means; a stronger colour is more, and {} is better.",
                               more_is_better(metric) ? "more" : "less"),
        .svg = svg(map)};
  }

  std::optional<std::pair<std::string, std::string>> pareto_metrics() const {
    if (plan_.report.pareto) return plan_.report.pareto;
    if (metrics_.size() < 2) return std::nullopt;
    return std::pair(metrics_.front(), metrics_.back());
  }

  ReportFigure pareto(const std::string& x, const std::string& y) const {
    ScatterChart chart{
        .title = "Pareto front", .x_label = axis_title(x), .y_label = axis_title(y), .clouds = {}};
    std::map<std::size_t, ScatterChart::Cloud> clouds;
    for (const auto& [values, groups] : settings_) {
      std::vector<std::pair<double, double>> front;
      for (const SweepGroup* group : groups) {
        const SweepFigure* across = group->figure(x);
        const SweepFigure* up = group->figure(y);
        if (across == nullptr || up == nullptr) continue;
        const std::size_t line = lines_ ? group->values[*lines_] : 0;
        clouds[line].name = lines_ ? label(*lines_, line) : "a setting";
        clouds[line].points.emplace_back(drawn(x, across->mean), drawn(y, up->mean));
        const bool is_beaten = std::ranges::any_of(
            groups, [&](const SweepGroup* other) { return beats(*other, *group, x, y); });
        if (!is_beaten) front.push_back(clouds[line].points.back());
      }
      std::ranges::sort(front);
      if (front.size() > 1) chart.fronts.push_back(std::move(front));
    }
    for (auto& [value, cloud] : clouds) chart.clouds.push_back(std::move(cloud));
    return {.title = fmt::format("{} against {}", y, x),
            .caption = fmt::format(
                "A mark is the mean of a setting. A dashed line joins a Pareto front: {} that no "
                "other beats in both metrics{}.",
                lines_ ? "each " + plan_.axes[*lines_].name : "the settings",
                x_ && lines_ ? " at the same " + x_name() : ""),
            .svg = svg(chart)};
  }

  // Not worse in both, and better in one.
  static bool beats(const SweepGroup& a, const SweepGroup& b, const std::string& x,
                    const std::string& y) {
    bool better = false;
    for (const std::string& metric : {x, y}) {
      const SweepFigure* of_a = a.figure(metric);
      const SweepFigure* of_b = b.figure(metric);
      if (of_a == nullptr || of_b == nullptr || is_better(metric, *of_b, *of_a)) return false;
      better = better || is_better(metric, *of_a, *of_b);
    }
    return better;
  }

  ReportFigure table() const {
    std::vector<std::string> titles;
    for (std::size_t axis = 0; axis < plan_.axes.size(); ++axis) {
      if (is_swept(axis)) titles.push_back(plan_.axes[axis].name);
    }
    titles.emplace_back("runs");
    if (refuses_) titles.emplace_back("refused");
    for (const std::string& metric : metrics_) {
      titles.push_back(metric);
      if (!plan_.baseline.empty()) titles.push_back("vs " + plan_.baseline_text());
    }
    std::string out = "<table><thead>" + row(titles, "th") + "</thead><tbody>";
    const std::size_t rows = std::min(kRowsMax, statistics_.groups.size());
    for (std::size_t i = 0; i < rows; ++i) out += row(cells_of(statistics_.groups[i]), "td");
    return {
        .title = "All settings",
        .caption = fmt::format("Means with intervals of 95 % (bootstrap over seeds). Differences "
                               "are run by run of the same seed; those of completion times and "
                               "makespan are over the jobs that both runs completed.{}",
                               rows < statistics_.groups.size()
                                   ? fmt::format(" The first {} of {}; summary.csv has all.", rows,
                                                 statistics_.groups.size())
                                   : ""),
        .svg = out + "</tbody></table>"};
  }

  std::vector<std::string> cells_of(const SweepGroup& group) const {
    std::vector<std::string> cells;
    for (std::size_t axis = 0; axis < plan_.axes.size(); ++axis) {
      if (!is_swept(axis)) continue;
      const std::size_t value = group.values[axis];
      cells.push_back(value == kNoValue ? "" : label(axis, value));
    }
    cells.push_back(fmt::to_string(group.runs.size()));
    if (refuses_) {
      const SweepFigure* rejected = group.figure("rejected");
      cells.push_back(rejected == nullptr ? "" : fmt::format("{:.4g}", rejected->mean));
    }
    for (const std::string& metric : metrics_) {
      cells.push_back(figure_text(metric, group.figure(metric)));
      if (!plan_.baseline.empty()) cells.push_back(change_text(group.figure(metric)));
    }
    return cells;
  }

  static std::string row(const std::vector<std::string>& cells, std::string_view tag) {
    std::string out = "<tr>";
    for (const std::string& cell : cells) {
      out += fmt::format("<{0}><span class=\"n\">{1}</span></{0}>", tag, escaped(cell));
    }
    return out + "</tr>\n";
  }

  const SweepPlan& plan_;
  const SweepStatistics& statistics_;
  const std::vector<std::string> metrics_;
  const bool refuses_;
  std::optional<std::size_t> x_;
  std::optional<std::size_t> lines_;
  std::vector<std::pair<std::string, Groups>> panels_;
  std::map<std::vector<std::size_t>, Groups> settings_;
};

}  // namespace

std::string sweep_page(const SweepPlan& plan, const SweepStatistics& statistics,
                       const std::string& name) {
  std::vector<std::string> sizes;
  for (const SweepAxis& axis : plan.axes) {
    sizes.push_back(fmt::format("{} {}", axis.values.size(), axis.name));
  }
  std::size_t runs = 0;
  for (const SweepGroup& group : statistics.groups) runs += group.runs.size();
  std::string subtitle = fmt::format("{} runs: {}", runs, fmt::join(sizes, " × "));
  if (runs < plan.points.size())
    subtitle += fmt::format("; {} are left", plan.points.size() - runs);
  const SweepPage page(plan, statistics);
  return html_report({}, page.figures(),
                     {.title = "Sweep " + name, .subtitle = subtitle, .verdict = page.verdict()});
}

}  // namespace orrery
