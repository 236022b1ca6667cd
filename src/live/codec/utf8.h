#pragma once

#include <string>
#include <string_view>

namespace orrery {

// The text itself where it is UTF-8; else with U+FFFD for every byte that does not belong.
std::string as_utf8(std::string_view text);

}  // namespace orrery
