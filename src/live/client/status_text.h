#pragma once

#include <string>
#include <string_view>

#include "live/api/api_jobs.h"

namespace orrery {

// Jobs in rows that are no wider than the terminal: the reason is cut first, then columns are left
// out. A last line counts.
std::string status_table(const StatusAnswer& answer, int width);

// Everything about one job, a line each.
std::string status_card(const JobStatus& job, double now_s);

// {"jobs":[...]}; null where there is nothing to say.
std::string status_json(const StatusAnswer& answer);

// "job 17 Failed after 12s: exit code 3"
std::string end_line(const JobStatus& job);

// "45s", "12m05s", "3h07m", "2d04h"
std::string short_duration(double value_s);

// "2026-11-15 19:44:46", in the local time of this machine.
std::string local_time(double since_1970_s);

// At most `width` columns, the last of them an ellipsis if something was cut off; as
// plain_text() has it.
std::string fitted(std::string_view text, std::size_t width);

}  // namespace orrery
