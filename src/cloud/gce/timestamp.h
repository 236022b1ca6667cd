#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "model/time.h"

namespace orrery {

// "2026-11-19T10:00:00.123-08:00", as RFC 3339 writes it. Nothing for another text or an instant
// before 1970 or after 2200.
std::optional<Time> rfc3339_time(std::string_view text);
std::string rfc3339_text(Time time);

// "Thu, 19 Nov 2026 18:02:09 GMT", the date of an HTTP answer.
std::optional<Time> http_date(std::string_view text);
std::string http_date_text(Time time);

}  // namespace orrery
