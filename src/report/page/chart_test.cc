#include "report/page/chart.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <regex>
#include <set>

namespace orrery {
namespace {

int count(const std::string& text, const std::string& part) {
  int found = 0;
  for (std::size_t at = text.find(part); at != std::string::npos; at = text.find(part, at + 1)) {
    ++found;
  }
  return found;
}

// The heights of the bars, in the order they are drawn; the legend's marks have no title.
std::vector<double> bars(const std::string& svg) {
  static const std::regex kBar("height=\"([0-9.]+)\" style=\"[^\"]*\"><title>");
  std::vector<double> heights;
  for (std::sregex_iterator bar(svg.begin(), svg.end(), kBar), end; bar != end; ++bar) {
    heights.push_back(std::stod((*bar)[1]));
  }
  return heights;
}

TEST(BarChart, BarsAreAsHighAsTheirValuesAndMissingOnesAreNotDrawn) {
  const BarChart chart{.title = "t",
                       .series = {"a", "b"},
                       .panels = {{"p", {{"one", {0.5, 1.0}}, {"two", {std::nullopt, 0.25}}}},
                                  {"q", {{"one", {0.75, std::nullopt}}}}}};
  const std::vector<double> heights = bars(svg(chart));
  ASSERT_EQ(heights.size(), 4U);
  EXPECT_NEAR(heights[1], 2 * heights[0], 0.2);
  EXPECT_NEAR(heights[2], heights[0] / 2, 0.2);
  EXPECT_NEAR(heights[3], heights[0] * 1.5, 0.2);  // panels have one scale
}

TEST(BarChart, NamesThatFitStandInOneLine) {
  BarChart chart{
      .title = "t", .series = {"a"}, .panels = {{"p", {{"2 K80", {1}}, {"4 K80", {2}}}}}};
  const auto lines = [&] {
    const std::string text = svg(chart);
    std::set<std::string> heights;
    for (const BarChart::Group& group : chart.panels[0].groups) {
      const std::size_t name = text.find(" text-anchor=\"middle\">" + group.label);
      const std::size_t y = text.rfind("y=\"", name);
      heights.insert(text.substr(y, name - y));
    }
    return heights.size();
  };
  EXPECT_EQ(lines(), 1U);
  chart.panels[0].groups[0].label.assign(90, 'x');
  EXPECT_EQ(lines(), 2U);
}

TEST(BarChart, TextFromOutsideIsNoMarkup) {
  const BarChart chart{
      .title = "\"<x>", .series = {"<a>&"}, .panels = {{"<p>", {{"<script>", {1.0}}}}}};
  const std::string text = svg(chart);
  EXPECT_EQ(text.find("<script>"), std::string::npos);
  EXPECT_EQ(text.find("<p>"), std::string::npos);
  EXPECT_NE(text.find("&lt;script&gt;"), std::string::npos);
  EXPECT_NE(text.find("aria-label=\"&quot;&lt;x&gt;\""), std::string::npos);
}

TEST(BarChart, AnEmptyOneIsStillAPicture) {
  const std::string text = svg(BarChart{});
  EXPECT_TRUE(text.starts_with("<svg"));
  EXPECT_TRUE(text.ends_with("</svg>"));
  EXPECT_EQ(text.find("nan"), std::string::npos);
}

TEST(LineChart, EveryLineWithPointsIsDrawnAndNamed) {
  const LineChart chart{.title = "t",
                        .x_label = "x",
                        .y_label = "y",
                        .lines = {{"first", {{0, 0}, {1, 2}, {2, 1}}, 0, false, true},
                                  {"second", {{1, 1}}, 1, true, false},
                                  {"none", {}, 2, false, false}}};
  const std::string text = svg(chart);
  EXPECT_EQ(count(text, "<path "), 2);
  EXPECT_EQ(count(text, "<circle "), 3);
  EXPECT_EQ(count(text, "stroke-dasharray"), 2);  // the line and its mark in the legend
  for (const char* name : {"first", "second", "none"})
    EXPECT_NE(text.find(name), std::string::npos);
}

TEST(LineChart, TheHighestPointOfTwoScalesStaysInside) {
  for (const double top : {1e-6, 0.37, 1.0, 99.0, 6.4e4, 1e12}) {
    const LineChart chart{
        .title = "t", .x_label = "", .y_label = "", .lines = {{"l", {{0, 0}, {top, top}}}}};
    const std::string text = svg(chart);
    static const std::regex kPath("d=\"M([0-9.-]+) ([0-9.-]+)L([0-9.-]+) ([0-9.-]+)\"");
    std::smatch path;
    ASSERT_TRUE(std::regex_search(text, path, kPath)) << text;
    EXPECT_LT(std::stod(path[4]), std::stod(path[2])) << top;
    EXPECT_GT(std::stod(path[4]), 0) << top;
    EXPECT_LE(count(text, "class=\"grid\""), 10) << top;
  }
}

nlohmann::json data_in(const std::string& svg) {
  const std::size_t from = svg.find("<metadata>") + 10;
  std::string text = svg.substr(from, svg.find("</metadata>") - from);
  for (const auto& [code, sign] :
       {std::pair("&quot;", "\""), {"&lt;", "<"}, {"&gt;", ">"}, {"&amp;", "&"}}) {
    for (std::size_t at = 0; (at = text.find(code, at)) != std::string::npos; ++at) {
      text.replace(at, std::string_view(code).size(), sign);
    }
  }
  return nlohmann::json::parse(text);
}

TEST(LineChart, CarriesItsValuesAndHowItsLinesLook) {
  const LineChart chart{.title = "t",
                        .x_label = "hours",
                        .y_label = "\"share\" <%>",
                        .lines = {{"a,b", {{0, 0}, {1.5, 2}}, 3, true, false}, {"c", {}, 9}}};
  const auto data = data_in(svg(chart));
  EXPECT_EQ(data.at("columns"), (nlohmann::json{"line", "hours", "\"share\" <%>"}));
  EXPECT_EQ(data.at("rows"), (nlohmann::json{{"a,b", 0, 0}, {"a,b", 1.5, 2}}));
  EXPECT_EQ(data.at("lines"),
            (nlohmann::json{{"a,b", 3, true, false, 2}, {"c", 9, false, false, 0}}));
}

TEST(BarChart, CarriesItsValues) {
  const BarChart chart{.title = "t",
                       .series = {"a", "b"},
                       .panels = {{"p", {{"one", {0.5, std::nullopt}}, {"two", {1e-9, 1.0}}}}}};
  const auto data = data_in(svg(chart));
  EXPECT_EQ(
      data.at("rows"),
      (nlohmann::json{{"p", "one", "a", 0.5}, {"p", "two", "a", 1e-9}, {"p", "two", "b", 1}}));
}

TEST(BarChart, TwentyFourSeriesHaveAColourEach) {
  BarChart chart{.title = "t", .series = {}, .panels = {{"p", {{"g", {}}}}}};
  for (int i = 0; i < 24; ++i) {
    chart.series.push_back("s" + std::to_string(i));
    chart.panels[0].groups[0].values.push_back(1);
  }
  const std::string text = svg(chart);
  for (int i = 0; i < 24; ++i) {
    EXPECT_EQ(count(text, "var(--s" + std::to_string(i) + ")"), 2) << i;  // with the legend
  }
}

TEST(BarChart, APanelWithoutValuesSaysSo) {
  const BarChart chart{.title = "t",
                       .series = {"a"},
                       .panels = {{"p", {{"one", {std::nullopt}}}}, {"q", {{"one", {1.0}}}}}};
  EXPECT_EQ(count(svg(chart), "No data."), 1);
}

TEST(LineChart, OneWithoutPointsSaysSo) {
  EXPECT_NE(
      svg(LineChart{.title = "t", .x_label = "", .y_label = "", .lines = {}}).find("No data."),
      std::string::npos);
  EXPECT_NE(svg(BarChart{.title = "t", .series = {}, .panels = {{"p", {}}}}).find("No data."),
            std::string::npos);
}

}  // namespace
}  // namespace orrery
