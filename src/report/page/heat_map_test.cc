#include "report/page/heat_map.h"

#include <gtest/gtest.h>

namespace orrery {
namespace {

TEST(HeatMap, EveryCellSaysWhatItIs) {
  const std::string text = svg(HeatMap{.title = "lives",
                                       .x_label = "runs",
                                       .y_label = "server",
                                       .columns = {{"run <1>", {0.25, 1}}, {"run 2", {1}}}});
  EXPECT_NE(text.find("<title>run &lt;1&gt;, 1: 0.25</title>"), std::string::npos) << text;
  EXPECT_NE(text.find("<title>run 2, 1: 1</title>"), std::string::npos);
  EXPECT_EQ(text.find("run <1>"), std::string::npos) << "text is never markup";
}

TEST(HeatMap, AFullCellIsDarkerThanAnEmptyOne) {
  const std::string text =
      svg(HeatMap{.title = "", .x_label = "", .y_label = "", .columns = {{"a", {0, 1, 7}}}});
  EXPECT_NE(text.find("fill-opacity:0.080"), std::string::npos) << text;
  EXPECT_NE(text.find("fill-opacity:1.000"), std::string::npos);
}

TEST(HeatMap, NoColumnsAreNoFault) { EXPECT_NE(svg(HeatMap{}).find("</svg>"), std::string::npos); }

}  // namespace
}  // namespace orrery
