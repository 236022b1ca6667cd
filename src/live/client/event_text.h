#pragma once

#include <string>
#include <string_view>

namespace orrery {

// A line of the live log for people: when, what, which job, and what else it says. A line that is
// no JSON object comes out as it is, less control characters.
std::string event_text(std::string_view line);

}  // namespace orrery
