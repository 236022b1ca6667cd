#pragma once

#include <string>
#include <string_view>

#include "base/result.h"
#include "model/time.h"

namespace orrery {

// "90", "90s", "15m", "2h", "7d", "250ms": seconds unless a unit is given.
Result<Duration> parse_duration(std::string_view text);

// The shortest of those spellings that says exactly this.
std::string duration_text(Duration duration);

// Two units at most, for people: "45s", "3m20s", "2h05m", "4d07h". Rounded up to seconds; 0 or
// more.
std::string two_unit_text(Duration duration);

}  // namespace orrery
