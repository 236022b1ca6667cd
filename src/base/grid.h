#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace orrery {

struct GridColumn {
  std::string title;
  bool left = false;  // where the text stands; numbers stand to the right
};

// Text in columns that are as wide as what they hold, two spaces apart, under a row of titles. A
// row may be shorter than the list of columns. Lines end without trailing spaces.
std::string grid(std::span<const GridColumn> columns,
                 std::span<const std::vector<std::string>> rows);

// Terminal columns, taking every code point for one wide.
std::size_t columns_of(std::string_view text);

}  // namespace orrery
