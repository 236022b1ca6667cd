#include "base/grid.h"

#include <algorithm>

#include "base/invariant.h"

namespace orrery {
namespace {

constexpr std::string_view kGap = "  ";

void append_line(std::string& out, std::span<const GridColumn> columns,
                 std::span<const std::size_t> widths, std::span<const std::string> cells) {
  std::string line;
  for (std::size_t i = 0; i < cells.size(); ++i) {
    if (i > 0) line += kGap;
    const std::string space(widths[i] - columns_of(cells[i]), ' ');
    line += columns[i].left ? cells[i] + space : space + cells[i];
  }
  line.erase(line.find_last_not_of(' ') + 1);
  out += line + '\n';
}

}  // namespace

std::size_t columns_of(std::string_view text) {
  return static_cast<std::size_t>(
      std::ranges::count_if(text, [](char c) { return (c & 0xC0) != 0x80; }));
}

std::string grid(std::span<const GridColumn> columns,
                 std::span<const std::vector<std::string>> rows) {
  std::vector<std::string> titles;
  std::vector<std::size_t> widths;
  for (const GridColumn& column : columns) {
    titles.push_back(column.title);
    widths.push_back(columns_of(column.title));
  }
  for (const auto& row : rows) {
    INVARIANT(row.size() <= columns.size(), "every cell stands in a column");
    for (std::size_t i = 0; i < row.size(); ++i) {
      widths[i] = std::max(widths[i], columns_of(row[i]));
    }
  }
  std::string out;
  append_line(out, columns, widths, titles);
  for (const auto& row : rows) append_line(out, columns, widths, row);
  return out;
}

}  // namespace orrery
