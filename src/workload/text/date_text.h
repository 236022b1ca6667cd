#pragma once

#include <optional>
#include <string_view>

#include "base/result.h"
#include "model/time.h"

namespace orrery {

// The time since 1970 that a date says: 2020-06-09 18:41:01, with a T instead of the blank, parts
// of a second after a point, and a zone such as Z, +08:00 or -0530. Without a zone nothing is known
// of summer time: the difference of two such dates is what a clock on the wall would say. Refuses
// years before 1970 and after 2069.
Result<Duration> parse_date(std::string_view text);

// True if the text stands for "no such time": empty, None, Unknown, NaN, NaT, N/A or null.
bool is_no_value(std::string_view text);

// The length that [days-][hours:]minutes:seconds[.parts] says, as Slurm writes it.
Result<Duration> parse_clock(std::string_view text);

}  // namespace orrery
