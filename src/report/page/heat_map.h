#pragma once

#include <string>
#include <vector>

namespace orrery {

// Cells in columns, each from 0 (pale) to 1 (full). Every cell says its column, row and value when
// the pointer is over it. Colours come from the page.
struct HeatMap {
  struct Column {
    std::string label;
    std::vector<double> cells;  // from the bottom up
  };
  std::string title;  // for screen readers
  std::string x_label;
  std::string y_label;
  std::vector<Column> columns;
};
std::string svg(const HeatMap& map);

}  // namespace orrery
