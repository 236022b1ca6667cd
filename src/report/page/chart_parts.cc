#include "report/page/chart_parts.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "base/json_text.h"
#include "base/plain_text.h"
#include "report/page/chart.h"

namespace orrery {
namespace {

constexpr int kColours = 24;  // of the page

}  // namespace

ChartAxis chart_axis(double most) {
  if (!(most > 0) || !std::isfinite(most)) return {};
  const double rough = most / 5;
  const double power = std::pow(10, std::floor(std::log10(rough)));
  ChartAxis axis;
  axis.step = 10 * power;
  for (const double times : {5.0, 2.0, 1.0}) {
    if (times * power >= rough * (1 - 1e-9)) axis.step = times * power;
  }
  axis.top = std::ceil(most / axis.step - 1e-9) * axis.step;
  axis.digits = std::max(0, -static_cast<int>(std::floor(std::log10(axis.step) + 1e-9)));
  return axis;
}

void ChartExtent::add(double value) {
  if (!std::isfinite(value)) return;
  low_ = std::min(low_, value);
  high_ = std::max(high_, value);
}

ChartRange ChartExtent::range() const {
  if (low_ > high_) return {};
  const double floor = low_ < 0.5 * high_ && low_ >= 0 ? 0 : low_;
  const double wide = high_ > floor ? high_ - floor : std::max(std::abs(high_), 1.0);
  const ChartAxis steps = chart_axis(wide);
  const double first = std::floor(floor / steps.step + 1e-9) * steps.step;
  ChartAxis axis = steps;
  axis.top = std::ceil((floor + wide - first) / steps.step - 1e-9) * steps.step;
  return {.low = first, .axis = axis};
}

std::string open_chart(std::string_view title, double height) {
  return fmt::format(
      "<svg class=\"plot\" role=\"img\" aria-label=\"{}\" viewBox=\"0 0 {:.0f} {:.0f}\">",
      escaped(title), kChartWidth, height);
}

std::string chart_label(double x, double y, std::string_view anchor, std::string_view text) {
  return fmt::format("<text x=\"{:.1f}\" y=\"{:.1f}\" text-anchor=\"{}\">{}</text>", x, y, anchor,
                     escaped(text));
}

std::string chart_rule(double x1, double y1, double x2, double y2, std::string_view kind) {
  return fmt::format("<line class=\"{}\" x1=\"{:.1f}\" y1=\"{:.1f}\" x2=\"{:.1f}\" y2=\"{:.1f}\"/>",
                     kind, x1, y1, x2, y2);
}

std::string chart_scale(const ChartBox& box, const ChartAxis& axis) {
  std::string out;
  const int steps = static_cast<int>(std::lround(axis.top / axis.step));
  for (int i = 0; i <= steps; ++i) {
    const double value = i * axis.step;
    const double y = box.y(value, axis);
    out += chart_rule(box.left, y, box.right, y, i == 0 ? "axis" : "grid");
    out += chart_label(box.left - 7, y + 4, "end", fmt::format("{:.{}f}", value, axis.digits));
  }
  return out;
}

std::string chart_x_scale(const ChartBox& box, const ChartRange& range) {
  std::string out;
  const int steps = static_cast<int>(std::lround(range.axis.top / range.axis.step));
  for (int i = 0; i <= steps; ++i) {
    const double x = box.left + (box.right - box.left) * i / steps;
    out += chart_rule(x, box.top, x, box.bottom, i == 0 ? "axis" : "grid");
    out += chart_label(x, box.bottom + 17, "middle",
                       fmt::format("{:.{}f}", range.low + i * range.axis.step, range.axis.digits));
  }
  return out;
}

std::string chart_y_scale(const ChartBox& box, const ChartRange& range) {
  std::string out;
  const int steps = static_cast<int>(std::lround(range.axis.top / range.axis.step));
  for (int i = 0; i <= steps; ++i) {
    const double y = box.bottom - (box.bottom - box.top) * i / steps;
    out += chart_rule(box.left, y, box.right, y, i == 0 ? "axis" : "grid");
    out += chart_label(box.left - 7, y + 4, "end",
                       fmt::format("{:.{}f}", range.low + i * range.axis.step, range.axis.digits));
  }
  return out;
}

std::string chart_colour(std::size_t number) {
  return fmt::format("var(--s{})", number % kColours);
}

std::string chart_empty(const ChartBox& box) {
  return chart_label((box.left + box.right) / 2, (box.top + box.bottom) / 2, "middle", "No data.");
}

ChartData::ChartData(std::initializer_list<std::string_view> columns) {
  append(json_, "{\"columns\":[");
  for (const std::string_view& column : columns) {
    if (&column != columns.begin()) json_.push_back(',');
    append_string(json_, column);
  }
  append(json_, "],\"rows\":[");
}

void ChartData::add(std::initializer_list<Cell> row) {
  append(json_, begun_ ? ",[" : "[");
  begun_ = true;
  for (const Cell& cell : row) {
    if (&cell != row.begin()) json_.push_back(',');
    if (const auto* name = std::get_if<std::string_view>(&cell)) {
      append_string(json_, plain_text(*name));
    } else if (const double value = std::get<double>(cell); std::isfinite(value)) {
      fmt::format_to(fmt::appender(json_), "{:.9g}", value);
    } else {
      append(json_, "null");
    }
  }
  json_.push_back(']');
}

std::string ChartData::metadata(std::string_view more) const {
  return "<metadata>" + escaped(fmt::to_string(json_)) + "]" + escaped(more) + "}</metadata>";
}

std::string ChartLegend::add(std::string_view name, std::string_view mark) {
  const double wide = 40 + 7.2 * static_cast<double>(name.size());
  if (x_ + wide > kChartWidth && x_ > kChartLeft) {
    x_ = kChartLeft;
    y_ += 20;
  }
  std::string out = fmt::format("<g transform=\"translate({:.1f} {:.1f})\">{}{}</g>", x_, y_, mark,
                                chart_label(26, 4, "start", name));
  x_ += wide;
  return out;
}

std::string escaped(std::string_view text) {
  std::string out;
  for (const char c : text) {
    switch (c) {
      case '<':
        out += "&lt;";
        break;
      case '>':
        out += "&gt;";
        break;
      case '&':
        out += "&amp;";
        break;
      case '"':
        out += "&quot;";
        break;
      default:
        out += c;
    }
  }
  return out;
}

}  // namespace orrery
