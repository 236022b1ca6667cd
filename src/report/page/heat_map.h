#pragma once

#include <string>
#include <vector>

namespace orrery {

// A value for each row and column, as a shade between two limits. What lies beyond a limit has its
// shade, and a value that is not finite has no cell. SVG as in report/page/chart.h.
struct HeatMap {
  std::string title{};  // for screen readers
  std::string row_label{};
  std::string column_label{};
  std::vector<std::string> rows{};
  std::vector<std::string> columns{};
  std::vector<std::vector<double>> values{};  // of each row; as many as there are columns
  double low = 0;
  double high = 1;
};
std::string svg(const HeatMap& map);

}  // namespace orrery
