#pragma once

#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace orrery {

// Clouds of points over two axes, which need not begin at 0. SVG as in report/page/chart.h.
struct ScatterChart {
  struct Cloud {
    std::string name;
    std::vector<std::pair<double, double>> points;
    std::optional<std::pair<double, double>> centre{};  // a large mark with the name
  };
  std::string title;  // for screen readers
  std::string x_label;
  std::string y_label;
  std::vector<Cloud> clouds;
  std::vector<std::vector<std::pair<double, double>>> fronts{};  // each joined by a line
};
std::string svg(const ScatterChart& chart);

}  // namespace orrery
