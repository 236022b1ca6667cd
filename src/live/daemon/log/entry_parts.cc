#include "live/daemon/log/entry_parts.h"

#include <fmt/format.h>

#include <limits>
#include <nlohmann/json.hpp>

#include "model/cluster.h"
#include "report/event_log/event_names.h"

namespace orrery {
namespace {

using nlohmann::json;
constexpr auto kNeeded = Need::Required;
constexpr auto kMaybe = Need::Optional;

}  // namespace

void write_policy(JsonBody& body, const ChosenPolicy& policy) {
  body.text("policy", policy.name);
  if (!policy.options.empty()) {
    fmt::memory_buffer& out = body.begin("options");
    char mark = '{';
    for (const auto& [key, value] : policy.options) {
      out.push_back(mark);
      mark = ',';
      append_string(out, key);
      out.push_back(':');
      append_string(out, value);
    }
    out.push_back('}');
  }
  body.number("seed", static_cast<std::int64_t>(policy.seed));
  body.number("round", policy.round.count());
}

Status read_policy(const LogLine& line, ChosenPolicy& policy) {
  TRY(line.text("policy", policy.name, kNeeded));
  TRY(line.integer("seed", policy.seed, kMaybe));
  std::int64_t round = 0;
  TRY(line.integer("round", round, kMaybe));
  policy.round = Duration(round);
  if (line.find("options") == nullptr) return {};
  TRY_ASSIGN(const json* options, line.nested("options"));
  for (const auto& [key, value] : options->items()) {
    if (!value.is_string()) return invalid(fmt::format("option {} is no text", key));
    policy.options[key] = value.get<std::string>();
  }
  return {};
}

void write_offer(JsonBody& body, const NodeOffer& offer) {
  body.text("node", offer.name);
  body.text("address", offer.address);
  body.number("gpus", offer.gpus);
  body.number("cpu_milli", offer.cpu_milli);
  body.number("memory", offer.memory_bytes);
  body.number("gpu_memory", offer.gpu_memory_bytes);
  body.text("gpu_type", offer.gpu_type);
  body.text("only_user", offer.only_user);
  body.text("zone", offer.zone);
  body.real("losses_per_day", offer.losses_per_day);
  body.text("fault", offer.fault);
}

Status read_offer(const LogLine& line, NodeOffer& offer) {
  TRY(line.text("node", offer.name, kNeeded));
  TRY(line.text("address", offer.address, kMaybe));
  TRY(line.integer("gpus", offer.gpus, kMaybe, 0, kGpusPerNodeMax));
  TRY(line.integer("cpu_milli", offer.cpu_milli, kMaybe));
  TRY(line.integer("memory", offer.memory_bytes, kMaybe));
  TRY(line.integer("gpu_memory", offer.gpu_memory_bytes, kMaybe));
  TRY(line.text("gpu_type", offer.gpu_type, kMaybe));
  TRY(line.text("only_user", offer.only_user, kMaybe));
  TRY(line.text("zone", offer.zone, kMaybe));
  TRY(line.text("fault", offer.fault, kMaybe));
  return line.number("losses_per_day", offer.losses_per_day, kMaybe);
}

void write_reason(JsonBody& body, const Reason& reason, JobNumber other) {
  if (reason.code == Reason::Code::None) return;
  body.text("reason", spelled(kReasonNames, reason.code));
  body.number("other", other);
  body.number("wanted", reason.wanted);
  body.number("available", reason.available);
  body.number("from", reason.from.time_since_epoch().count());
  body.number("until", reason.until.time_since_epoch().count());
  body.number("earliest", reason.earliest.time_since_epoch().count());
}

Status read_reason(const LogLine& line, Reason& reason, JobNumber& other) {
  std::string code;
  TRY(line.text("reason", code, kMaybe));
  if (code.empty()) return {};
  const auto known = named<Reason::Code>(kReasonNames, code);
  if (!known) return invalid(fmt::format("'{}' is no reason", code));
  reason.code = *known;
  TRY(line.integer("other", other, kMaybe));
  TRY(line.integer("wanted", reason.wanted, kMaybe));
  TRY(line.integer("available", reason.available, kMaybe));
  TRY(line.time("from", reason.from, kMaybe));
  TRY(line.time("until", reason.until, kMaybe));
  return line.time("earliest", reason.earliest, kMaybe);
}

void write_limits(JsonBody& body, const Limits& limits) {
  constexpr std::int64_t kNoValue = std::numeric_limits<std::int64_t>::min();
  if (limits.priority) body.number("priority", *limits.priority, kNoValue);
  if (limits.gpus) body.number("gpus", *limits.gpus, kNoValue);
  if (limits.pending) body.number("pending", *limits.pending, kNoValue);
  if (limits.submissions) body.number("submissions", *limits.submissions, kNoValue);
}

Status read_limits(const LogLine& line, Limits& limits) {
  const auto read = [&](const char* key, auto& limit, std::int64_t low) -> Status {
    if (line.find(key) == nullptr) return {};
    return line.integer(key, limit.emplace(), kNeeded, low,
                        kMax<typename std::decay_t<decltype(limit)>::value_type>);
  };
  TRY(read("priority", limits.priority, -kPriorityMax));
  TRY(read("gpus", limits.gpus, kNoLimit));
  TRY(read("pending", limits.pending, kNoLimit));
  return read("submissions", limits.submissions, kNoLimit);
}

void write_names(JsonBody& body, std::string_view key, const std::vector<std::string>& names) {
  fmt::memory_buffer& out = body.begin(key);
  out.push_back('[');
  for (const std::string& name : names) {
    if (&name != &names.front()) out.push_back(',');
    append_string(out, name);
  }
  out.push_back(']');
}

Status read_names(const LogLine& line, const char* key, std::vector<std::string>& names) {
  TRY_ASSIGN(const json* list, line.list(key));
  for (const json& name : *list) {
    if (!name.is_string()) return invalid(fmt::format("\"{}\" is a list of names", key));
    names.push_back(name.get<std::string>());
  }
  return {};
}

void write_end(JsonBody& body, const JobEnd& end) {
  body.text("end", end_name(end.kind));
  body.number("exit_code", end.exit_code, -1);
  body.number("signal", end.signal);
  body.text("message", end.message);
  body.number("ran", end.ran_ns, -1);
}

Status read_end(const LogLine& line, JobEnd& end) {
  std::string name;
  TRY(line.text("end", name, kNeeded));
  const auto kind = parse_end(name);
  if (!kind) return invalid(fmt::format("'{}' is no way to end", name));
  end.kind = *kind;
  TRY(line.integer("exit_code", end.exit_code, kMaybe, -1, kMax<int>));
  TRY(line.integer("signal", end.signal, kMaybe, 0, kMax<int>));
  TRY(line.text("message", end.message, kMaybe));
  return line.integer("ran", end.ran_ns, kMaybe, 0);
}

}  // namespace orrery
