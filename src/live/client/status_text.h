#pragma once

#include <string>
#include <string_view>

#include "live/api/api_jobs.h"
#include "report/listing/listing.h"

namespace orrery {

// Jobs in rows: `orrery status`.
Listing job_listing(const StatusAnswer& answer);

// Everything about one job, a line each.
std::string status_card(const JobStatus& job, double now_s);

// "job 17 Failed after 12s: exit code 3"
std::string end_line(const JobStatus& job);

// "45s", "12m05s", "3h07m", "2d04h"
std::string short_duration(double value_s);

}  // namespace orrery
