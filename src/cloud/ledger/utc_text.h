#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "model/time.h"

namespace orrery {

// An instant that counts from the Unix epoch, as ISO 8601 in UTC: "2019-02-16T01:10:23.998327000Z".
// Always 30 characters, so that texts sort as their instants, and nothing is rounded.
std::string utc_text(Time time);

// The inverse, also of "2019-02-16 01:10:23", with or without a fraction and with or without "Z".
// Nothing for another text, or for a day before 1970 or after 2261.
std::optional<Time> time_of_utc(std::string_view text);

}  // namespace orrery
