#include "report/page/chart.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

namespace orrery {
namespace {

constexpr int kColours = 8;  // of the page
constexpr double kWidth = 1100;
constexpr double kLeft = 46;

struct Axis {
  double top = 1;
  double step = 1;
  int digits = 0;
};

// About five steps of 1, 2 or 5 times a power of ten.
Axis axis_for(double most) {
  if (!(most > 0) || !std::isfinite(most)) return {};
  const double rough = most / 5;
  const double power = std::pow(10, std::floor(std::log10(rough)));
  Axis axis;
  axis.step = 10 * power;
  for (const double times : {5.0, 2.0, 1.0}) {
    if (times * power >= rough * (1 - 1e-9)) axis.step = times * power;
  }
  axis.top = std::ceil(most / axis.step - 1e-9) * axis.step;
  axis.digits = std::max(0, -static_cast<int>(std::floor(std::log10(axis.step) + 1e-9)));
  return axis;
}

std::string open(std::string_view title, double height) {
  return fmt::format(
      "<svg class=\"plot\" role=\"img\" aria-label=\"{}\" viewBox=\"0 0 {:.0f} {:.0f}\">",
      escaped(title), kWidth, height);
}

std::string label(double x, double y, std::string_view anchor, std::string_view text) {
  return fmt::format("<text x=\"{:.1f}\" y=\"{:.1f}\" text-anchor=\"{}\">{}</text>", x, y, anchor,
                     escaped(text));
}

std::string rule(double x1, double y1, double x2, double y2, std::string_view kind) {
  return fmt::format("<line class=\"{}\" x1=\"{:.1f}\" y1=\"{:.1f}\" x2=\"{:.1f}\" y2=\"{:.1f}\"/>",
                     kind, x1, y1, x2, y2);
}

struct Box {
  double left = 0;
  double right = 0;
  double top = 0;
  double bottom = 0;

  double y(double value, const Axis& axis) const {
    return bottom - value / axis.top * (bottom - top);
  }
};

std::string scale(const Box& box, const Axis& axis) {
  std::string out;
  const int steps = static_cast<int>(std::lround(axis.top / axis.step));
  for (int i = 0; i <= steps; ++i) {
    const double value = i * axis.step;
    const double y = box.y(value, axis);
    out += rule(box.left, y, box.right, y, i == 0 ? "axis" : "grid");
    out += label(box.left - 7, y + 4, "end", fmt::format("{:.{}f}", value, axis.digits));
  }
  return out;
}

std::string colour(std::size_t number) { return fmt::format("var(--s{})", number % kColours); }

// Names beside their colours, as many to a line as fit; moves `y` below them.
class Legend {
 public:
  explicit Legend(double y) : y_(y) {}

  std::string add(std::string_view name, std::string_view mark) {
    const double wide = 40 + 7.2 * static_cast<double>(name.size());
    if (x_ + wide > kWidth && x_ > kLeft) {
      x_ = kLeft;
      y_ += 20;
    }
    std::string out = fmt::format("<g transform=\"translate({:.1f} {:.1f})\">{}{}</g>", x_, y_,
                                  mark, label(26, 4, "start", name));
    x_ += wide;
    return out;
  }
  double below() const { return y_ + 18; }

 private:
  double x_ = kLeft;
  double y_;
};

double most_of(const BarChart& chart) {
  double most = 0;
  for (const BarChart::Panel& panel : chart.panels) {
    for (const BarChart::Group& group : panel.groups) {
      for (const auto& value : group.values) most = std::max(most, value.value_or(0));
    }
  }
  return most;
}

std::string bars(const BarChart& chart, const BarChart::Panel& panel, const Box& box,
                 const Axis& axis) {
  std::string out = scale(box, axis);
  out += fmt::format("<text class=\"name\" x=\"{:.1f}\" y=\"{:.1f}\">{}</text>", box.left,
                     box.top - 10, escaped(panel.title));
  const double wide = (box.right - box.left) / static_cast<double>(panel.groups.size());
  const double bar = std::min(26.0, wide * 0.84 / static_cast<double>(chart.series.size()));
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
          x, y, std::max(1.0, bar - 1), std::max(0.0, box.bottom - y), colour(i),
          escaped(fmt::format("{}, {}: {:.4g}", group.label, chart.series[i], *group.values[i])));
    }
    // Every second name stands a line lower, so that neighbours do not touch.
    out += label(middle, box.bottom + (g % 2 == 0 ? 16 : 31), "middle", group.label);
  }
  return out;
}

std::string line_mark(const LineChart::Line& line) {
  const std::string stroke = colour(static_cast<std::size_t>(std::max(0, line.colour)));
  return fmt::format(
      "<line x1=\"0\" x2=\"20\" y1=\"0\" y2=\"0\" style=\"stroke:{};stroke-width:2{}\"/>", stroke,
      line.dashed ? ";stroke-dasharray:5 4" : "");
}

std::string curve(const LineChart::Line& line, const Box& box, const Axis& x_axis,
                  const Axis& y_axis) {
  const std::string stroke = colour(static_cast<std::size_t>(std::max(0, line.colour)));
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

std::string svg(const BarChart& chart) {
  constexpr double kPanel = 180;
  constexpr double kBetween = 74;
  const Axis axis = axis_for(most_of(chart));
  Legend legend(12);
  std::string out;
  for (std::size_t i = 0; i < chart.series.size(); ++i) {
    out += legend.add(
        chart.series[i],
        fmt::format("<rect y=\"-6\" width=\"18\" height=\"12\" style=\"fill:{}\"/>", colour(i)));
  }
  // Two panels side by side, each with space for its scale and for half of its last name.
  const std::size_t columns = chart.panels.size() > 1 ? 2 : 1;
  const double wide = kWidth / static_cast<double>(columns);
  double top = legend.below() + 26;
  for (std::size_t i = 0; i < chart.panels.size(); ++i) {
    const auto column = static_cast<double>(i % columns);
    const Box box{column * wide + kLeft, (column + 1) * wide - 30, top, top + kPanel};
    out += bars(chart, chart.panels[i], box, axis);
    if (i % columns + 1 == columns || i + 1 == chart.panels.size()) top += kPanel + kBetween;
  }
  return open(chart.title, top - 26) + out + "</svg>";
}

std::string svg(const LineChart& chart) {
  constexpr double kHeight = 300;
  double x_most = 0;
  double y_most = 0;
  Legend legend(12);
  std::string out;
  for (const LineChart::Line& line : chart.lines) {
    out += legend.add(line.name, line_mark(line));
    for (const auto& [x, y] : line.points) {
      x_most = std::max(x_most, x);
      y_most = std::max(y_most, y);
    }
  }
  const Axis y_axis = axis_for(y_most);
  const Axis ticks = axis_for(x_most);
  const Axis x_axis{.top = x_most > 0 ? x_most : 1, .step = ticks.step, .digits = ticks.digits};
  const double top = legend.below() + 26;
  const Box box{kLeft, kWidth - 16, top, top + kHeight};
  out += label(0, top - 10, "start", chart.y_label) + scale(box, y_axis);
  for (int i = 0; i * x_axis.step <= x_axis.top * (1 + 1e-9); ++i) {
    const double value = i * x_axis.step;
    const double x = box.left + value / x_axis.top * (box.right - box.left);
    out += label(x, box.bottom + 17, "middle", fmt::format("{:.{}f}", value, x_axis.digits));
  }
  out += label(box.right, box.bottom + 35, "end", chart.x_label);
  for (const LineChart::Line& line : chart.lines) out += curve(line, box, x_axis, y_axis);
  return open(chart.title, box.bottom + 44) + out + "</svg>";
}

}  // namespace orrery
