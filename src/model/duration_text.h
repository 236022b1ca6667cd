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

}  // namespace orrery
