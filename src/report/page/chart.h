#pragma once

#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace orrery {

// Charts as SVG that stands in a page of ours: colours and type come from its style sheet, text is
// escaped, and every mark says its name and value when the pointer is over it.

// Bars in groups, in one panel or several of the same scale.
struct BarChart {
  struct Group {
    std::string label;
    std::vector<std::optional<double>> values;  // one a series; empty: no bar
  };
  struct Panel {
    std::string title;
    std::vector<Group> groups;
  };
  std::string title;  // for screen readers
  std::vector<std::string> series;
  std::vector<Panel> panels;
};
std::string svg(const BarChart& chart);

// Lines over one axis; both axes begin at 0.
struct LineChart {
  struct Line {
    std::string name;
    std::vector<std::pair<double, double>> points;
    int colour = 0;
    bool dashed = false;
    bool marked = false;  // a mark on every point
  };
  std::string title;
  std::string x_label;
  std::string y_label;
  std::vector<Line> lines;
};
std::string svg(const LineChart& chart);

// Text that cannot be markup.
std::string escaped(std::string_view text);

}  // namespace orrery
