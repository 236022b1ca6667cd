#pragma once

#include <fmt/format.h>

#include <cstddef>
#include <initializer_list>
#include <limits>
#include <string>
#include <string_view>
#include <variant>

namespace orrery {

// What the charts of a page are made of.

inline constexpr double kChartWidth = 1100;
inline constexpr double kChartLetter = 6.7;  // the width of a letter, about
inline constexpr double kChartLeft = 46;

struct ChartAxis {
  double top = 1;
  double step = 1;
  int digits = 0;
};
// About five steps of 1, 2 or 5 times a power of ten.
ChartAxis chart_axis(double most);

struct ChartBox {
  double left = 0;
  double right = 0;
  double top = 0;
  double bottom = 0;

  double y(double value, const ChartAxis& axis) const {
    return bottom - value / axis.top * (bottom - top);
  }
};

// An axis from `low` to `low` + `axis.top`.
struct ChartRange {
  double low = 0;
  ChartAxis axis{};

  double part(double value) const { return (value - low) / axis.top; }
};

// What an axis must show.
class ChartExtent {
 public:
  void add(double value);    // if it is finite
  ChartRange range() const;  // from 0 if that costs less than half of the axis

 private:
  double low_ = std::numeric_limits<double>::infinity();
  double high_ = -std::numeric_limits<double>::infinity();
};

std::string open_chart(std::string_view title, double height);
std::string chart_label(double x, double y, std::string_view anchor, std::string_view text);
std::string chart_rule(double x1, double y1, double x2, double y2, std::string_view kind);
std::string chart_scale(const ChartBox& box, const ChartAxis& axis);
std::string chart_x_scale(const ChartBox& box, const ChartRange& range);
std::string chart_y_scale(const ChartBox& box, const ChartRange& range);
std::string chart_colour(std::size_t number);

// Names beside their colours, as many to a line as fit; moves `y` below them.
class ChartLegend {
 public:
  explicit ChartLegend(double y) : y_(y) {}

  std::string add(std::string_view name, std::string_view mark);
  double below() const { return y_ + 18; }

 private:
  double x_ = kChartLeft;
  double y_;
};

// What a chart without values shows instead.
std::string chart_empty(const ChartBox& box);

// The values of a chart. The drawing carries them, so that the page can save them as CSV.
class ChartData {
 public:
  using Cell = std::variant<std::string_view, double>;

  explicit ChartData(std::initializer_list<std::string_view> columns);
  void add(std::initializer_list<Cell> row);
  // An element that no program draws. `more`: further members of its JSON, each after a comma.
  std::string metadata(std::string_view more = "") const;

 private:
  fmt::memory_buffer json_;
  bool begun_ = false;
};

}  // namespace orrery
