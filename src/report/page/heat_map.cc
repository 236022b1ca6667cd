#include "report/page/heat_map.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "report/page/chart.h"
#include "report/page/chart_parts.h"

namespace orrery {
namespace {

constexpr double kNumberWide = 34;  // what a number in a cell takes
constexpr double kTop = 22;

struct Cells {
  double left = 0;
  double wide = 0;
  double high = 0;
};

Cells cells_of(const HeatMap& map) {
  std::size_t letters = map.row_label.size();
  for (const std::string& row : map.rows) letters = std::max(letters, row.size());
  Cells cells;
  cells.left = 12 + kChartLetter * static_cast<double>(letters);
  cells.wide =
      std::min(70.0, (kChartWidth - cells.left - 2) /
                         static_cast<double>(std::max<std::size_t>(1, map.columns.size())));
  cells.high = map.rows.size() > 24 ? 14 : 24;
  return cells;
}

std::string cell(const HeatMap& map, const Cells& cells, std::size_t row, std::size_t column) {
  const double value = map.values[row][column];
  if (!std::isfinite(value)) return "";
  const double range = map.high - map.low;
  const double shade = range > 0 ? std::clamp((value - map.low) / range, 0.0, 1.0) : 0;
  const double x = cells.left + cells.wide * static_cast<double>(column);
  const double y = kTop + cells.high * static_cast<double>(row);
  const double gap = cells.wide > 6 ? 1 : 0;
  std::string out = fmt::format(
      "<rect x=\"{:.1f}\" y=\"{:.1f}\" width=\"{:.2f}\" height=\"{:.1f}\" "
      "style=\"fill:rgb(var(--heat-2));fill-opacity:{:.2f}\"><title>{}</title></rect>",
      x, y, cells.wide - gap, cells.high - 1, 0.06 + 0.94 * shade,
      escaped(fmt::format("{} {}, {} {}: {:.4g}", map.row_label, map.rows[row], map.column_label,
                          map.columns[column], value)));
  if (cells.wide < kNumberWide || cells.high < 20) return out;
  out += fmt::format(
      "<text x=\"{:.1f}\" y=\"{:.1f}\" text-anchor=\"middle\" pointer-events=\"none\" "
      "style=\"fill:var(--{})\">{:.2f}</text>",
      x + (cells.wide - gap) / 2, y + cells.high / 2 + 4, shade > 0.45 ? "card" : "ink", value);
  return out;
}

// Every name if they fit, else as many as do. None reaches over the edge or the name of the rows.
std::string column_names(const HeatMap& map, const Cells& cells) {
  std::size_t letters = 1;
  for (const std::string& column : map.columns) letters = std::max(letters, column.size());
  const double needed = kChartLetter * static_cast<double>(letters) + 8;
  const auto each = static_cast<std::size_t>(std::max(1.0, needed / cells.wide + 0.999));
  std::string out;
  double free_from = kChartLetter * static_cast<double>(map.row_label.size()) + 8;
  for (std::size_t i = 0; i < map.columns.size(); i += each) {
    const double half = kChartLetter * static_cast<double>(map.columns[i].size()) / 2;
    const double middle = cells.left + cells.wide * (static_cast<double>(i) + 0.5);
    const double x =
        std::min(i == 0 ? std::max(middle, free_from + half) : middle, kChartWidth - half);
    if (x - half < free_from) continue;
    out += chart_label(x, kTop - 7, "middle", map.columns[i]);
    free_from = x + half + 8;
  }
  return out;
}

std::string data_of(const HeatMap& map) {
  ChartData data{map.row_label, map.column_label, "value"};
  for (std::size_t row = 0; row < map.rows.size(); ++row) {
    for (std::size_t column = 0; column < map.columns.size(); ++column) {
      data.add({map.rows[row], map.columns[column], map.values[row][column]});
    }
  }
  return data.metadata();
}

}  // namespace

std::string svg(const HeatMap& map) {
  const Cells cells = cells_of(map);
  std::string out = chart_label(0, kTop - 7, "start", map.row_label) + column_names(map, cells);
  for (std::size_t row = 0; row < map.rows.size(); ++row) {
    const double y = kTop + cells.high * (static_cast<double>(row) + 0.5) + 4;
    out += chart_label(cells.left - 8, y, "end", map.rows[row]);
    for (std::size_t column = 0; column < map.columns.size(); ++column) {
      out += cell(map, cells, row, column);
    }
  }
  const double bottom = kTop + cells.high * static_cast<double>(map.rows.size());
  out += chart_label(cells.left, bottom + 16, "start", map.column_label);
  return open_chart(map.title, bottom + 24) + out + data_of(map) + "</svg>";
}

}  // namespace orrery
