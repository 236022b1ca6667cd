#include "report/page/interval_chart.h"

#include <fmt/format.h>

#include <array>
#include <string_view>

#include "report/page/chart.h"
#include "report/page/chart_parts.h"

namespace orrery {
namespace {

constexpr std::size_t kColours = 8;

// Beyond eight lines, dashes distinguish lines of one colour.
std::string stroke_of(std::size_t line) {
  constexpr std::array<std::string_view, 4> kDashes = {
      "", ";stroke-dasharray:7 3", ";stroke-dasharray:2 3", ";stroke-dasharray:9 3 2 3"};
  return fmt::format("stroke:{}{}", chart_colour(line), kDashes[line / kColours % kDashes.size()]);
}

class Drawing {
 public:
  Drawing(const IntervalChart& chart, const ChartBox& box, const ChartRange& x, const ChartRange& y)
      : chart_(chart), box_(box), x_(x), y_(y) {}

  std::string line(std::size_t number) const {
    const IntervalChart::Line& line = chart_.lines[number];
    std::string out;
    if (chart_.x_names.empty()) out = area(line, number) + curve(line, number);
    for (const IntervalChart::Point& point : line.points) out += mark(point, number);
    return out;
  }

  std::string x_scale() const {
    if (chart_.x_names.empty()) return chart_x_scale(box_, x_);
    std::string out;
    const double wide = (box_.right - box_.left) / static_cast<double>(chart_.x_names.size());
    bool touches = false;
    for (const std::string& name : chart_.x_names) {
      touches = touches || kChartLetter * static_cast<double>(name.size()) + 8 > wide;
    }
    for (std::size_t i = 0; i < chart_.x_names.size(); ++i) {
      const double x = box_.left + wide * (static_cast<double>(i) + 0.5);
      out += chart_label(x, box_.bottom + (touches && i % 2 == 1 ? 31 : 17), "middle",
                         chart_.x_names[i]);
    }
    return out;
  }

 private:
  double x_of(double x, std::size_t number) const {
    const double wide = box_.right - box_.left;
    if (chart_.x_names.empty()) return box_.left + x_.part(x) * wide;
    const double each = wide / static_cast<double>(chart_.x_names.size());
    const double beside =
        (static_cast<double>(number) + 0.5) / static_cast<double>(chart_.lines.size());
    return box_.left + each * (x + 0.1 + 0.8 * beside);
  }
  double y_of(double y) const { return box_.bottom - y_.part(y) * (box_.bottom - box_.top); }

  std::string area(const IntervalChart::Line& line, std::size_t number) const {
    std::string path;
    for (const IntervalChart::Point& point : line.points) {
      path += fmt::format("{}{:.1f} {:.1f}", path.empty() ? "M" : "L", x_of(point.x, number),
                          y_of(point.high));
    }
    for (auto point = line.points.rbegin(); point != line.points.rend(); ++point) {
      path += fmt::format("L{:.1f} {:.1f}", x_of(point->x, number), y_of(point->low));
    }
    return fmt::format("<path class=\"area\" d=\"{}Z\" style=\"fill:{};opacity:.18\"/>", path,
                       chart_colour(number));
  }

  std::string curve(const IntervalChart::Line& line, std::size_t number) const {
    std::string path;
    for (const IntervalChart::Point& point : line.points) {
      path += fmt::format("{}{:.1f} {:.1f}", path.empty() ? "M" : "L", x_of(point.x, number),
                          y_of(point.y));
    }
    return fmt::format("<path class=\"curve\" d=\"{}\" style=\"{}\"/>", path, stroke_of(number));
  }

  std::string mark(const IntervalChart::Point& point, std::size_t number) const {
    const double x = x_of(point.x, number);
    const std::string at = chart_.x_names.empty()
                               ? fmt::format("{:.4g}", point.x)
                               : chart_.x_names[static_cast<std::size_t>(point.x)];
    const std::string name =
        fmt::format("{}, {} {}: {:.4g} [{:.4g}, {:.4g}]", chart_.lines[number].name, chart_.x_label,
                    at, point.y, point.low, point.high);
    std::string out;
    if (!chart_.x_names.empty()) {
      out = fmt::format(
          "<line x1=\"{0:.1f}\" x2=\"{0:.1f}\" y1=\"{1:.1f}\" y2=\"{2:.1f}\" "
          "style=\"stroke:{3};stroke-width:2\"/>",
          x, y_of(point.low), y_of(point.high), chart_colour(number));
    }
    return out + fmt::format(
                     "<circle cx=\"{:.1f}\" cy=\"{:.1f}\" r=\"3.4\" "
                     "style=\"fill:{}\"><title>{}</title></circle>",
                     x, y_of(point.y), chart_colour(number), escaped(name));
  }

  const IntervalChart& chart_;
  const ChartBox& box_;
  const ChartRange& x_;
  const ChartRange& y_;
};

std::string data_of(const IntervalChart& chart) {
  ChartData data{"line", chart.x_label, chart.y_label, "low", "high"};
  for (const IntervalChart::Line& line : chart.lines) {
    for (const IntervalChart::Point& point : line.points) {
      const ChartData::Cell x =
          chart.x_names.empty() ? ChartData::Cell(point.x)
                                : ChartData::Cell(chart.x_names[static_cast<std::size_t>(point.x)]);
      data.add({line.name, x, point.y, point.low, point.high});
    }
  }
  return data.metadata();
}

}  // namespace

std::string svg(const IntervalChart& chart) {
  constexpr double kHeight = 320;
  ChartExtent x_extent;
  ChartExtent y_extent;
  ChartLegend legend(12);
  std::string out;
  for (std::size_t i = 0; i < chart.lines.size(); ++i) {
    const IntervalChart::Line& line = chart.lines[i];
    out += legend.add(line.name, fmt::format("<line x1=\"0\" x2=\"20\" y1=\"0\" y2=\"0\" "
                                             "style=\"{};stroke-width:2.4\"/>",
                                             stroke_of(i)));
    for (const IntervalChart::Point& point : line.points) {
      x_extent.add(point.x);
      for (const double y : {point.low, point.y, point.high}) y_extent.add(y);
    }
  }
  const ChartRange x = x_extent.range();
  const ChartRange y = y_extent.range();
  const double top = legend.below() + 26;
  const ChartBox box{kChartLeft + 8, kChartWidth - 16, top, top + kHeight};
  const Drawing drawing(chart, box, x, y);
  out += chart_label(0, top - 10, "start", chart.y_label) + chart_y_scale(box, y);
  out += drawing.x_scale();
  out += chart_label(box.right, box.bottom + 46, "end", chart.x_label);
  for (std::size_t i = 0; i < chart.lines.size(); ++i) out += drawing.line(i);
  return open_chart(chart.title, box.bottom + 54) + out + data_of(chart) + "</svg>";
}

}  // namespace orrery
