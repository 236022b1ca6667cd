#include "report/page/chart.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "base/json_text.h"
#include "base/plain_text.h"
#include "report/page/chart_parts.h"

namespace orrery {
namespace {

double most_of(const BarChart& chart) {
  double most = 0;
  for (const BarChart::Panel& panel : chart.panels) {
    for (const BarChart::Group& group : panel.groups) {
      for (const auto& value : group.values) most = std::max(most, value.value_or(0));
    }
  }
  return most;
}

bool has_values(const BarChart::Panel& panel) {
  return std::ranges::any_of(panel.groups, [](const BarChart::Group& group) {
    return std::ranges::any_of(group.values, [](const auto& value) { return value.has_value(); });
  });
}

std::string bars(const BarChart& chart, const BarChart::Panel& panel, const ChartBox& box,
                 const ChartAxis& axis) {
  std::string out = chart_scale(box, axis);
  out += fmt::format("<text class=\"name\" x=\"{:.1f}\" y=\"{:.1f}\">{}</text>", box.left,
                     box.top - 10, escaped(panel.title));
  const double wide = (box.right - box.left) / static_cast<double>(panel.groups.size());
  const double bar = std::min(26.0, wide * 0.84 / static_cast<double>(chart.series.size()));
  // Where neighbours would touch every second name stands a line lower.
  const bool touch = std::ranges::any_of(panel.groups, [&](const BarChart::Group& group) {
    return kChartLetter * static_cast<double>(group.label.size()) + 8 > wide;
  });
  for (std::size_t g = 0; g < panel.groups.size(); ++g) {
    const BarChart::Group& group = panel.groups[g];
    const double middle = box.left + wide * (static_cast<double>(g) + 0.5);
    double x = middle - bar * static_cast<double>(chart.series.size()) / 2;
    for (std::size_t i = 0; i < group.values.size(); ++i, x += bar) {
      if (!group.values[i]) continue;
      const double y = box.y(*group.values[i], axis);
      out += fmt::format(
          "<rect x=\"{:.1f}\" y=\"{:.1f}\" width=\"{:.1f}\" height=\"{:.1f}\" style=\"fill:{}\">"
          "<title>{}</title></rect>",
          x, y, std::max(1.0, bar - 1), std::max(0.0, box.bottom - y), chart_colour(i),
          escaped(fmt::format("{}, {}: {:.4g}", group.label, chart.series[i], *group.values[i])));
    }
    out += chart_label(middle, box.bottom + (touch && g % 2 == 1 ? 31 : 16), "middle", group.label);
  }
  return out;
}

std::string data_of(const BarChart& chart) {
  ChartData data{"panel", "group", "series", "value"};
  for (const BarChart::Panel& panel : chart.panels) {
    for (const BarChart::Group& group : panel.groups) {
      for (std::size_t i = 0; i < group.values.size(); ++i) {
        if (!group.values[i]) continue;
        data.add({panel.title, group.label, chart.series[i], *group.values[i]});
      }
    }
  }
  return data.metadata();
}

// With how each line looks, so that the page can draw a part of them.
std::string data_of(const LineChart& chart) {
  ChartData data{"line", chart.x_label, chart.y_label};
  fmt::memory_buffer lines;
  for (const LineChart::Line& line : chart.lines) {
    for (const auto& [x, y] : line.points) data.add({line.name, x, y});
    append(lines, lines.size() == 0 ? "[" : ",[");
    append_string(lines, plain_text(line.name));
    fmt::format_to(fmt::appender(lines), ",{},{},{},{}]", std::max(0, line.colour), line.dashed,
                   line.marked, line.points.size());
  }
  return data.metadata(fmt::format(",\"lines\":[{}]", fmt::to_string(lines)));
}

std::string line_mark(const LineChart::Line& line) {
  const std::string stroke = chart_colour(static_cast<std::size_t>(std::max(0, line.colour)));
  return fmt::format(
      "<line x1=\"0\" x2=\"20\" y1=\"0\" y2=\"0\" style=\"stroke:{};stroke-width:2{}\"/>", stroke,
      line.dashed ? ";stroke-dasharray:5 4" : "");
}

std::string curve(const LineChart::Line& line, const ChartBox& box, const ChartAxis& x_axis,
                  const ChartAxis& y_axis) {
  const std::string stroke = chart_colour(static_cast<std::size_t>(std::max(0, line.colour)));
  std::string path;
  std::string marks;
  for (const auto& [x_value, y_value] : line.points) {
    const double x = box.left + x_value / x_axis.top * (box.right - box.left);
    const double y = box.y(y_value, y_axis);
    path += fmt::format("{}{:.1f} {:.1f}", path.empty() ? "M" : "L", x, y);
    if (!line.marked) continue;
    marks += fmt::format(
        "<circle cx=\"{:.1f}\" cy=\"{:.1f}\" r=\"3.4\" "
        "style=\"fill:{}\"><title>{}</title></circle>",
        x, y, stroke, escaped(fmt::format("{}, {:.4g}: {:.4g}", line.name, x_value, y_value)));
  }
  if (path.empty()) return "";
  return fmt::format(
      "<path class=\"curve\" d=\"{}\" style=\"stroke:{}{}\"><title>{}</title></path>{}", path,
      stroke, line.dashed ? ";stroke-dasharray:5 4" : "", escaped(line.name), marks);
}

}  // namespace

std::string svg(const BarChart& chart) {
  constexpr double kPanel = 180;
  constexpr double kBetween = 74;
  const ChartAxis axis = chart_axis(most_of(chart));
  ChartLegend legend(12);
  std::string out;
  for (std::size_t i = 0; i < chart.series.size(); ++i) {
    out += legend.add(chart.series[i],
                      fmt::format("<rect y=\"-6\" width=\"18\" height=\"12\" style=\"fill:{}\"/>",
                                  chart_colour(i)));
  }
  // Two panels side by side, each with space for its scale and for half of its last name.
  const std::size_t columns = chart.panels.size() > 1 ? 2 : 1;
  const double wide = kChartWidth / static_cast<double>(columns);
  double top = legend.below() + 26;
  for (std::size_t i = 0; i < chart.panels.size(); ++i) {
    const auto column = static_cast<double>(i % columns);
    const ChartBox box{column * wide + kChartLeft, (column + 1) * wide - 30, top, top + kPanel};
    out += bars(chart, chart.panels[i], box, axis);
    if (!has_values(chart.panels[i])) out += chart_empty(box);
    if (i % columns + 1 == columns || i + 1 == chart.panels.size()) top += kPanel + kBetween;
  }
  return open_chart(chart.title, top - 26) + out + data_of(chart) + "</svg>";
}

std::string svg(const LineChart& chart) {
  constexpr double kHeight = 300;
  double x_most = 0;
  double y_most = 0;
  ChartLegend legend(12);
  std::string out;
  for (const LineChart::Line& line : chart.lines) {
    out += legend.add(line.name, line_mark(line));
    for (const auto& [x, y] : line.points) {
      x_most = std::max(x_most, x);
      y_most = std::max(y_most, y);
    }
  }
  const ChartAxis y_axis = chart_axis(y_most);
  const ChartAxis ticks = chart_axis(x_most);
  const ChartAxis x_axis{
      .top = x_most > 0 ? x_most : 1, .step = ticks.step, .digits = ticks.digits};
  const double top = legend.below() + 26;
  const ChartBox box{kChartLeft, kChartWidth - 16, top, top + kHeight};
  out += chart_label(0, top - 10, "start", chart.y_label) + chart_scale(box, y_axis);
  for (int i = 0; i * x_axis.step <= x_axis.top * (1 + 1e-9); ++i) {
    const double value = i * x_axis.step;
    const double x = box.left + value / x_axis.top * (box.right - box.left);
    out += chart_label(x, box.bottom + 17, "middle", fmt::format("{:.{}f}", value, x_axis.digits));
  }
  out += chart_label(box.right, box.bottom + 35, "end", chart.x_label);
  for (const LineChart::Line& line : chart.lines) out += curve(line, box, x_axis, y_axis);
  if (x_most <= 0 && y_most <= 0) out += chart_empty(box);
  return open_chart(chart.title, box.bottom + 44) + out + data_of(chart) + "</svg>";
}

}  // namespace orrery
