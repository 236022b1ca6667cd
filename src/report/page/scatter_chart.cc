#include "report/page/scatter_chart.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "report/page/chart.h"
#include "report/page/chart_parts.h"

namespace orrery {
namespace {

// An axis from `low` to `low` + `axis.top`.
struct Range {
  double low = 0;
  ChartAxis axis{};

  double part(double value) const { return (value - low) / axis.top; }
};

class Extent {
 public:
  void add(double value) {
    if (!std::isfinite(value)) return;
    low_ = std::min(low_, value);
    high_ = std::max(high_, value);
  }
  // From 0 if that costs less than half of the axis.
  Range range() const {
    if (low_ > high_) return {};
    const double floor = low_ < 0.5 * high_ && low_ >= 0 ? 0 : low_;
    const double wide = high_ > floor ? high_ - floor : std::max(std::abs(high_), 1.0);
    const ChartAxis steps = chart_axis(wide);
    const double first = std::floor(floor / steps.step + 1e-9) * steps.step;
    ChartAxis axis = steps;
    axis.top = std::ceil((floor + wide - first) / steps.step - 1e-9) * steps.step;
    return {.low = first, .axis = axis};
  }

 private:
  double low_ = std::numeric_limits<double>::infinity();
  double high_ = -std::numeric_limits<double>::infinity();
};

std::string scale_of(const Range& range, const ChartBox& box, bool is_x) {
  std::string out;
  const int steps = static_cast<int>(std::lround(range.axis.top / range.axis.step));
  for (int i = 0; i <= steps; ++i) {
    const double part = static_cast<double>(i) / steps;
    const std::string text =
        fmt::format("{:.{}f}", range.low + i * range.axis.step, range.axis.digits);
    const char* kind = i == 0 ? "axis" : "grid";
    if (is_x) {
      const double x = box.left + part * (box.right - box.left);
      out += chart_rule(x, box.top, x, box.bottom, kind) +
             chart_label(x, box.bottom + 17, "middle", text);
    } else {
      const double y = box.bottom - part * (box.bottom - box.top);
      out += chart_rule(box.left, y, box.right, y, kind) +
             chart_label(box.left - 7, y + 4, "end", text);
    }
  }
  return out;
}

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
  Extent x_extent, y_extent;
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
  const Range x_range = x_extent.range(), y_range = y_extent.range();
  const double top = legend.below() + 26;
  const ChartBox box{kChartLeft, kChartWidth - 16, top, top + kHeight};
  const auto x_of = [&](double x) { return box.left + x_range.part(x) * (box.right - box.left); };
  const auto y_of = [&](double y) { return box.bottom - y_range.part(y) * (box.bottom - box.top); };
  out += chart_label(0, top - 10, "start", chart.y_label);
  out += scale_of(y_range, box, false) + scale_of(x_range, box, true);
  out += chart_label(box.right, box.bottom + 35, "end", chart.x_label);
  std::string centres;
  for (std::size_t i = 0; i < chart.clouds.size(); ++i) {
    const ScatterChart::Cloud& cloud = chart.clouds[i];
    const auto mark = [&](double x, double y, double radius, std::string_view style) {
      if (!std::isfinite(x) || !std::isfinite(y)) return std::string();
      return circle(x_of(x), y_of(y), radius, style,
                    fmt::format("{}: {:.4g}, {:.4g}", cloud.name, x, y));
    };
    const std::string fill = "fill:" + chart_colour(i);
    for (const auto& [x, y] : cloud.points) out += mark(x, y, 2.2, fill + ";fill-opacity:0.35");
    if (!cloud.centre) continue;
    const auto [x, y] = *cloud.centre;
    centres += mark(x, y, 7, fill + ";stroke:var(--ink);stroke-width:1.5");
  }
  return open_chart(chart.title, box.bottom + 44) + out + centres + data_of(chart) + "</svg>";
}

}  // namespace orrery
