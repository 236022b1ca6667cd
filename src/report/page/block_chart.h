#pragma once

#include <string>
#include <vector>

namespace orrery {

// What happened when, in rows of blocks over time. Panels share one scale. SVG as in
// report/page/chart.h.
struct BlockChart {
  struct Block {
    double from_s = 0;
    double to_s = 0;
    int kind = 0;  // of `kinds`
  };
  struct Row {
    std::string label;
    std::vector<Block> blocks;
  };
  struct Panel {
    std::string title;
    std::vector<Row> rows;
  };
  std::string title{};  // for screen readers
  std::vector<std::string> kinds{};
  std::vector<Panel> panels{};
};
std::string svg(const BlockChart& chart);

}  // namespace orrery
