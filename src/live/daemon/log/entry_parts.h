#pragma once

#include "live/daemon/answers/json_body.h"
#include "live/daemon/log/entry.h"
#include "report/event_log/log_line.h"

namespace orrery {

// Parts that entries and snapshots write alike.

void write_policy(JsonBody& body, const ChosenPolicy& policy);
Status read_policy(const LogLine& line, ChosenPolicy& policy);

void write_offer(JsonBody& body, const NodeOffer& offer);
Status read_offer(const LogLine& line, NodeOffer& offer);

void write_reason(JsonBody& body, const Reason& reason, JobNumber other);
Status read_reason(const LogLine& line, Reason& reason, JobNumber& other);

void write_limits(JsonBody& body, const Limits& limits);
Status read_limits(const LogLine& line, Limits& limits);
void write_names(JsonBody& body, std::string_view key, const std::vector<std::string>& names);
Status read_names(const LogLine& line, const char* key, std::vector<std::string>& names);

void write_end(JsonBody& body, const JobEnd& end);
Status read_end(const LogLine& line, JobEnd& end);

}  // namespace orrery
