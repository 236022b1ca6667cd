#include "report/page/interval_chart.h"

#include <gtest/gtest.h>

namespace orrery {
namespace {

std::size_t count(const std::string& text, std::string_view word) {
  std::size_t found = 0;
  for (std::size_t at = 0; (at = text.find(word, at)) != std::string::npos; ++at) ++found;
  return found;
}

IntervalChart chart() {
  return {.title = "t",
          .x_label = "load",
          .y_label = "hours",
          .lines = {{.name = "a<b", .points = {{0.5, 10, 9, 11}, {0.9, 20, 15, 22}}},
                    {.name = "c", .points = {{0.5, 12, 12, 12}}}}};
}

TEST(IntervalChart, ALineOfNumbersHasAnAreaAndAMarkForEachPoint) {
  const std::string drawing = svg(chart());
  EXPECT_EQ(count(drawing, "class=\"area\""), 2U);
  EXPECT_EQ(count(drawing, "<circle"), 3U);
  EXPECT_NE(drawing.find("a&lt;b, load 0.9: 20 [15, 22]"), std::string::npos);
  EXPECT_EQ(drawing.find("a<b"), std::string::npos);
}

TEST(IntervalChart, NamesHaveMarksWithWhiskersSideBySide) {
  IntervalChart names = chart();
  names.x_names = {"small", "large"};
  names.lines[0].points = {{0, 10, 9, 11}, {1, 20, 15, 22}};
  names.lines[1].points = {{0, 12, 12, 12}};
  const std::string drawing = svg(names);
  EXPECT_EQ(count(drawing, "class=\"area\""), 0U);
  EXPECT_EQ(count(drawing, "stroke-width:2\"/>"), 3U) << "whiskers";
  EXPECT_NE(drawing.find("a&lt;b, load large: 20 [15, 22]"), std::string::npos);
}

TEST(IntervalChart, CarriesItsValuesForACsvFile) {
  IntervalChart names = chart();
  names.x_names = {"small", "large"};
  names.lines = {{.name = "las", .points = {{1, 20, 15, 22}}}};
  const std::string drawing = svg(names);
  EXPECT_NE(drawing.find("<metadata"), std::string::npos);
  EXPECT_NE(drawing.find("large"), std::string::npos);
  EXPECT_NE(drawing.find("20,15,22"), std::string::npos) << drawing;
}

TEST(IntervalChart, BeyondEightLinesDashesDistinguishThoseOfOneColour) {
  IntervalChart many = chart();
  many.lines.assign(9, many.lines[0]);
  const std::string drawing = svg(many);
  EXPECT_EQ(count(svg(chart()), "stroke-dasharray"), 0U);
  EXPECT_EQ(count(drawing, "stroke-dasharray"), 2U) << "the line and its mark in the legend";
}

TEST(IntervalChart, AChartWithoutLinesIsEmptyAndNotBroken) {
  EXPECT_NE(svg(IntervalChart()).find("</svg>"), std::string::npos);
}

}  // namespace
}  // namespace orrery
