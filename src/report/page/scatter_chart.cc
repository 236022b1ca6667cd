#include "report/page/scatter_chart.h"

#include <fmt/format.h>

#include <cmath>

#include "report/page/chart.h"
#include "report/page/chart_parts.h"

namespace orrery {
namespace {

std::string circle(double x, double y, double radius, std::string_view style,
                   std::string_view name) {
  return fmt::format(
      "<circle cx=\"{:.1f}\" cy=\"{:.1f}\" r=\"{:.1f}\" style=\"{}\"><title>{}</title></circle>", x,
      y, radius, style, escaped(std::string(name)));
}

std::string data_of(const ScatterChart& chart) {
  ChartData data{"cloud", chart.x_label, chart.y_label};
  for (const ScatterChart::Cloud& cloud : chart.clouds) {
    for (const auto& [x, y] : cloud.points) data.add({cloud.name, x, y});
    if (cloud.centre)
      data.add({cloud.name + " (centre)", cloud.centre->first, cloud.centre->second});
  }
  return data.metadata();
}

}  // namespace

std::string svg(const ScatterChart& chart) {
  constexpr double kHeight = 420;
  ChartExtent x_extent, y_extent;
  ChartLegend legend(12);
  std::string out;
  for (std::size_t i = 0; i < chart.clouds.size(); ++i) {
    const ScatterChart::Cloud& cloud = chart.clouds[i];
    out += legend.add(cloud.name,
                      fmt::format("<circle cx=\"9\" r=\"5\" style=\"fill:{}\"/>", chart_colour(i)));
    auto points = cloud.points;
    if (cloud.centre) points.push_back(*cloud.centre);
    for (const auto& [x, y] : points) x_extent.add(x), y_extent.add(y);
  }
  const ChartRange x_range = x_extent.range(), y_range = y_extent.range();
  const double top = legend.below() + 26;
  const ChartBox box{kChartLeft, kChartWidth - 16, top, top + kHeight};
  const auto x_of = [&](double x) { return box.left + x_range.part(x) * (box.right - box.left); };
  const auto y_of = [&](double y) { return box.bottom - y_range.part(y) * (box.bottom - box.top); };
  out += chart_label(0, top - 10, "start", chart.y_label);
  out += chart_y_scale(box, y_range) + chart_x_scale(box, x_range);
  out += chart_label(box.right, box.bottom + 35, "end", chart.x_label);
  // Few marks are large enough to point at; many show where they are dense.
  std::size_t points = 0;
  for (const ScatterChart::Cloud& cloud : chart.clouds) points += cloud.points.size();
  const double small = points > 200 ? 2.2 : 5;
  const std::string opacity = points > 200 ? ";fill-opacity:0.35" : "";
  std::string centres;
  for (std::size_t i = 0; i < chart.clouds.size(); ++i) {
    const ScatterChart::Cloud& cloud = chart.clouds[i];
    const auto mark = [&](double x, double y, double radius, std::string_view style) {
      if (!std::isfinite(x) || !std::isfinite(y)) return std::string();
      return circle(x_of(x), y_of(y), radius, style,
                    fmt::format("{}: {:.4g}, {:.4g}", cloud.name, x, y));
    };
    const std::string fill = "fill:" + chart_colour(i);
    for (const auto& [x, y] : cloud.points) out += mark(x, y, small, fill + opacity);
    if (!cloud.centre) continue;
    const auto [x, y] = *cloud.centre;
    centres += mark(x, y, 7, fill + ";stroke:var(--ink);stroke-width:1.5");
  }
  for (const auto& front : chart.fronts) {
    std::string path;
    for (const auto& [x, y] : front) {
      path += fmt::format("{}{:.1f} {:.1f}", path.empty() ? "M" : "L", x_of(x), y_of(y));
    }
    out += fmt::format(
        "<path class=\"curve\" d=\"{}\" style=\"stroke:var(--soft);stroke-dasharray:5 4\"/>", path);
  }
  return open_chart(chart.title, box.bottom + 44) + out + centres + data_of(chart) + "</svg>";
}

}  // namespace orrery
