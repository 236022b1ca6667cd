#include "report/page/heat_map.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstddef>

#include "report/page/chart.h"

namespace orrery {
namespace {

constexpr double kWidth = 1100;
constexpr double kLeft = 46;
constexpr double kTop = 26;
constexpr double kCell = 22;
constexpr double kPalest = 0.08;  // so that a cell of 0 is seen to be there

std::string text_at(double x, double y, std::string_view anchor, std::string_view text) {
  return fmt::format("<text x=\"{:.1f}\" y=\"{:.1f}\" text-anchor=\"{}\">{}</text>", x, y, anchor,
                     escaped(text));
}

}  // namespace

std::string svg(const HeatMap& map) {
  std::size_t rows = 0;
  for (const HeatMap::Column& column : map.columns) rows = std::max(rows, column.cells.size());
  const double bottom = kTop + kCell * static_cast<double>(rows);
  const auto count = static_cast<double>(std::max<std::size_t>(1, map.columns.size()));
  const double wide = std::min(2 * kCell, (kWidth - kLeft - 16) / count);
  std::string out = text_at(0, kTop - 10, "start", map.y_label);
  for (std::size_t row = 0; row < rows; ++row) {
    out += text_at(kLeft - 7, bottom - kCell * (static_cast<double>(row) + 0.5) + 4, "end",
                   fmt::format("{}", row + 1));
  }
  double x = kLeft;
  for (const HeatMap::Column& column : map.columns) {
    double y = bottom;
    for (std::size_t row = 0; row < column.cells.size(); ++row) {
      y -= kCell;
      const double value = std::clamp(column.cells[row], 0.0, 1.0);
      out += fmt::format(
          "<rect x=\"{:.1f}\" y=\"{:.1f}\" width=\"{:.1f}\" height=\"{:.1f}\" "
          "style=\"fill:var(--s0);fill-opacity:{:.3f}\"><title>{}</title></rect>",
          x, y, std::max(1.0, wide - 1), kCell - 1, kPalest + (1 - kPalest) * value,
          escaped(fmt::format("{}, {}: {:.3g}", column.label, row + 1, column.cells[row])));
    }
    x += wide;
  }
  out += text_at(std::max(x, kLeft + 200), bottom + 18, "end", map.x_label);
  return fmt::format(
             "<svg class=\"plot\" role=\"img\" aria-label=\"{}\" viewBox=\"0 0 {:.0f} {:.0f}\">",
             escaped(map.title), kWidth, bottom + 28) +
         out + "</svg>";
}

}  // namespace orrery
