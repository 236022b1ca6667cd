#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <numeric>

#include "workload/outages/fault_formats.h"
#include "workload/text/json_fields.h"

namespace orrery {
namespace {

using Token = JsonStream::Token;

constexpr double kDay_s = 86400;
// The published record names only the servers that failed, of 400.
constexpr std::int64_t kPublishedServers = 400;

struct FaultEvent {
  std::string server{};
  std::string cause{};
  Time at{};
  bool starts = false;
  std::int64_t line = 0;
};

Result<std::string> take_name(JsonStream& json, std::string_view key) {
  TRY_ASSIGN(const Token token, json.next());
  if (token != Token::String) return json.wrong(fmt::format("'{}' is not a string", key));
  if (auto checked = check_name(json.text()); !checked.ok()) {
    return json.wrong(fmt::format("'{}': {}", key, checked.error().message));
  }
  return std::string(json.text());
}

Status take_time(JsonStream& json, Time& at) {
  TRY_ASSIGN(const Token token, json.next());
  if (token != Token::Number) return json.wrong("'event_time' is not a number of days");
  const auto days = parse_number(json.text(), 0, kTimeMax_s / kDay_s);
  if (!days.ok()) return json.wrong("'event_time': " + days.error().message);
  at = time_from_seconds(days.value() * kDay_s);
  return {};
}

Status take_type(JsonStream& json, bool& starts) {
  TRY_ASSIGN(const std::string type, take_name(json, "event_type"));
  starts = type == "fault_start";
  if (starts || type == "fault_end") return {};
  return json.wrong(
      fmt::format("'event_type' is '{}'; write fault_start or fault_end", type.substr(0, 80)));
}

// The class of a fault, from an object with more.
Status take_cause(JsonStream& json, std::string& cause) {
  TRY_ASSIGN(const Token token, json.next());
  if (token != Token::BeginObject) return json.skip(token);
  return each_key(json, [&](std::string_view key) -> Status {
    if (key != "Class") return skip_value(json);
    TRY_ASSIGN(cause, take_name(json, "Class"));
    return {};
  });
}

Result<FaultEvent> take_event(JsonStream& json) {
  FaultEvent event{.line = json.line()};
  bool has_time = false;
  bool has_type = false;
  TRY(each_key(json, [&](std::string_view key) -> Status {
    if (key == "node_id") {
      TRY_ASSIGN(event.server, take_name(json, "node_id"));
      return {};
    }
    if (key == "event_time") {
      has_time = true;
      return take_time(json, event.at);
    }
    if (key == "event_type") {
      has_type = true;
      return take_type(json, event.starts);
    }
    return key == "fault_type" ? take_cause(json, event.cause) : skip_value(json);
  }));
  const char* missing = event.server.empty() ? "node_id"
                        : !has_time          ? "event_time"
                        : !has_type          ? "event_type"
                                             : nullptr;
  if (missing != nullptr) return json.wrong(fmt::format("an event has no '{}'", missing));
  return event;
}

// Joins the events of each server to outages. A server is down until as many of its faults have
// ended as have begun.
class Outages {
 public:
  Status add(const FaultEvent& event, const JsonStream& json) {
    if (event.at < last_) return json.wrong("the events are not in order of time");
    last_ = event.at;
    Server& server = servers_[event.server];
    if (!event.starts) return end(event, server, json);
    if (trace_.faults.size() == kFaultsMax) return json.wrong("there are too many faults");
    if (server.open++ > 0) {
      ++trace_.overlapping;
      return {};
    }
    server.fault = trace_.faults.size();
    trace_.faults.push_back({.from = event.at, .cause = event.cause, .line = event.line});
    owners_.push_back(&server);
    return {};
  }

  FaultTrace trace() && {
    for (auto& [name, server] : servers_) {
      server.number = trace_.servers.size();
      trace_.servers.push_back(name);
    }
    for (std::size_t i = 0; i < owners_.size(); ++i) trace_.faults[i].server = owners_[i]->number;
    trace_.fleet = std::max(kPublishedServers, static_cast<std::int64_t>(servers_.size()));
    return std::move(trace_);
  }

 private:
  struct Server {
    std::int64_t open = 0;   // faults that have not ended
    std::size_t fault = 0;   // in the trace, while some are open
    std::size_t number = 0;  // in the order of names
  };

  Status end(const FaultEvent& event, Server& server, const JsonStream& json) {
    if (server.open == 0) {
      return json.wrong(fmt::format("a fault of server '{}' ends that has not begun",
                                    event.server.substr(0, 80)));
    }
    if (--server.open == 0) trace_.faults[server.fault].to = event.at;
    return {};
  }

  FaultTrace trace_;
  std::map<std::string, Server> servers_;
  std::vector<const Server*> owners_;  // by fault
  Time last_{};
};

}  // namespace

Result<FaultTrace> read_fault_events(LineReader& lines) {
  JsonStream json(lines);
  TRY_ASSIGN(const Token list, json.next());
  if (list != Token::BeginList) return json.wrong("is not a list of fault events");
  Outages outages;
  while (true) {
    TRY_ASSIGN(const Token token, json.next());
    if (token == Token::EndList) break;
    if (token != Token::BeginObject)
      return json.wrong("the list holds something that is no object");
    TRY_ASSIGN(const FaultEvent event, take_event(json));
    TRY(outages.add(event, json));
  }
  TRY_ASSIGN(const Token end, json.next());
  if (end != Token::End) return json.wrong("there is more after the list");
  return std::move(outages).trace();
}

}  // namespace orrery
