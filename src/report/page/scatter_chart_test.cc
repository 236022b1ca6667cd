#include "report/page/scatter_chart.h"

#include <gtest/gtest.h>

#include <limits>

namespace orrery {
namespace {

std::size_t count(const std::string& text, const std::string& part) {
  std::size_t found = 0;
  for (std::size_t at = text.find(part); at != std::string::npos; at = text.find(part, at + 1)) {
    ++found;
  }
  return found;
}

ScatterChart two_clouds() {
  return {.title = "cost against time",
          .x_label = "h",
          .y_label = "USD",
          .clouds = {{.name = "a<b", .points = {{10, 5}, {12, 6}}, .centre = {{11, 5.5}}},
                     {.name = "c", .points = {{11, 9}}}}};
}

TEST(ScatterChart, EveryPointIsAMarkThatSaysItsValues) {
  const std::string drawn = svg(two_clouds());
  EXPECT_EQ(count(drawn, "<title>"), 4U);
  EXPECT_NE(drawn.find("<title>a&lt;b: 10, 5</title>"), std::string::npos);
  EXPECT_EQ(count(drawn, "a<b"), 0U);
}

TEST(ScatterChart, AxesBeginWhereThePointsAre) {
  const std::string drawn = svg(two_clouds());
  EXPECT_NE(drawn.find(">10.0<"), std::string::npos);
  EXPECT_NE(drawn.find(">12.0<"), std::string::npos);
  EXPECT_EQ(drawn.find(">0.0<"), std::string::npos);
}

TEST(ScatterChart, BearsWhatIsNoNumberAndNoPoints) {
  ScatterChart chart = two_clouds();
  chart.clouds[1].points = {{std::numeric_limits<double>::infinity(), 1}};
  EXPECT_EQ(count(svg(chart), "<title>"), 3U);
  EXPECT_EQ(svg(chart).find("inf"), std::string::npos);
  EXPECT_FALSE(svg(ScatterChart{}).empty());
  chart.clouds = {{.name = "one", .points = {{3, 3}}}};
  EXPECT_EQ(svg(chart).find("nan"), std::string::npos);
}

}  // namespace
}  // namespace orrery
