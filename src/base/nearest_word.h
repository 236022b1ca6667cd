#pragma once

#include <span>
#include <string_view>

namespace orrery {

// The one that takes the fewest letters added, dropped or changed to get to `word`; the first of
// several. There is at least one.
std::string_view nearest_word(std::string_view word, std::span<const std::string_view> known);

}  // namespace orrery
