#pragma once

#include <string_view>

#include "base/result.h"

namespace orrery {

// To standard output; fails when that is closed or full.
Status print_text(std::string_view text);

// The width of the terminal, or a reasonable one if there is none.
int terminal_width();
bool terminal_has_colour();

}  // namespace orrery
