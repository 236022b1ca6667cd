#pragma once

#include <string>
#include <vector>

namespace orrery {

// Lines with an area around each: a figure and its interval over an axis of numbers. Over an axis
// of names, marks with whiskers side by side. No axis need begin at 0. SVG as in
// report/page/chart.h.
struct IntervalChart {
  struct Point {
    double x = 0;  // with x_names: the place of the name
    double y = 0;
    double low = 0;  // of the interval; `y` where there is none
    double high = 0;
  };
  struct Line {
    std::string name;
    std::vector<Point> points;
  };
  std::string title;  // for screen readers
  std::string x_label;
  std::string y_label;
  std::vector<std::string> x_names{};  // empty: x is a number
  std::vector<Line> lines{};
};
std::string svg(const IntervalChart& chart);

}  // namespace orrery
