#include "report/page/heat_map.h"

#include <gtest/gtest.h>

#include <cmath>

#include "report/page/block_chart.h"

namespace orrery {
namespace {

std::size_t count(const std::string& text, const std::string& part) {
  std::size_t found = 0;
  for (std::size_t at = text.find(part); at != std::string::npos; at = text.find(part, at + 1)) {
    ++found;
  }
  return found;
}

HeatMap two_by_two() {
  return {.title = "map",
          .row_label = "stage",
          .column_label = "worker",
          .rows = {"0", "1"},
          .columns = {"a", "<b>"},
          .values = {{1, 2}, {1.5, 9}},
          .low = 1,
          .high = 2};
}

TEST(HeatMap, EachValueIsACellThatSaysItsPlaceAndValue) {
  const std::string drawn = svg(two_by_two());
  EXPECT_EQ(count(drawn, "<rect"), 4u);
  EXPECT_NE(drawn.find("stage 1, worker a: 1.5<"), std::string::npos);
}

TEST(HeatMap, TheShadeGrowsWithTheValueUpToTheLimit) {
  const std::string drawn = svg(two_by_two());
  EXPECT_EQ(count(drawn, "fill-opacity:0.06"), 1u);
  EXPECT_EQ(count(drawn, "fill-opacity:0.53"), 1u);
  EXPECT_EQ(count(drawn, "fill-opacity:1.00"), 2u);
}

TEST(HeatMap, NamesAreNeverMarkup) {
  const std::string drawn = svg(two_by_two());
  EXPECT_EQ(drawn.find("<b>"), std::string::npos);
  EXPECT_NE(drawn.find("&lt;b&gt;"), std::string::npos);
}

TEST(HeatMap, ManyColumnsStayWithinThePage) {
  HeatMap map = two_by_two();
  map.columns.assign(400, "12345");
  map.values.assign(2, std::vector<double>(400, 1.0));
  const std::string drawn = svg(map);
  EXPECT_EQ(count(drawn, "<rect"), 800u);
  EXPECT_LT(count(drawn, ">12345</text>"), 40u);
}

TEST(HeatMap, LongNamesOfColumnsTouchNeitherEachOtherNorTheEdges) {
  HeatMap map = two_by_two();
  map.columns.assign(32, "europe-west1-b run 3");
  map.values.assign(2, std::vector<double>(32, 1.0));
  const std::string drawn = svg(map);
  constexpr double kHalf = 6.7 * 20 / 2;
  double free_from = 6.7 * 5;  // behind the name of the rows
  int names = 0;
  const std::string name = " y=\"15.0\" text-anchor=\"middle\">europe";
  for (std::size_t at = drawn.find(name); at != std::string::npos; at = drawn.find(name, at + 1)) {
    const std::size_t begin = drawn.rfind("x=\"", at) + 3;
    const double x = std::stod(drawn.substr(begin));
    EXPECT_GE(x - kHalf, free_from);
    EXPECT_LE(x + kHalf, 1100.1);
    free_from = x + kHalf;
    ++names;
  }
  EXPECT_GE(names, 5);
}

TEST(BlockChart, BlocksOfAllPanelsShareOneScale) {
  const BlockChart chart{.title = "steps",
                         .kinds = {"compute"},
                         .panels = {{"recorded", {{"w0", {{.from_s = 0, .to_s = 4, .kind = 0}}}}},
                                    {"ideal", {{"w0", {{.from_s = 0, .to_s = 2, .kind = 0}}}}}}};
  const std::string drawn = svg(chart);
  const auto width = [&](std::size_t at) {
    const std::size_t begin = drawn.find("width=\"", drawn.find("<rect x", at)) + 7;
    return std::stod(drawn.substr(begin));
  };
  const double first = width(0), second = width(drawn.find("ideal"));
  EXPECT_NEAR(first, 2 * second, 0.5);
  EXPECT_NE(drawn.find("w0, compute: 2 s, from 0 s"), std::string::npos);
}

TEST(BlockChart, NothingAtAllIsAnEmptyChart) {
  EXPECT_EQ(count(svg(BlockChart{}), "<rect"), 0u);
  EXPECT_EQ(count(svg(HeatMap{}), "<rect"), 0u);
}

TEST(HeatMap, AValueThatIsNotFiniteHasNoCell) {
  HeatMap map{.rows = {"a"}, .columns = {"x", "y"}, .values = {{0.5, NAN}}};
  const std::string drawing = svg(map);
  EXPECT_EQ(drawing.find("<rect"), drawing.rfind("<rect"));
  EXPECT_EQ(drawing.find("nan"), std::string::npos);
}

}  // namespace
}  // namespace orrery
