#include <fmt/format.h>

#include <array>
#include <charconv>
#include <nlohmann/json.hpp>

#include "live/api/job_request_object.h"
#include "live/daemon/log/entry.h"
#include "live/daemon/log/entry_parts.h"
#include "live/daemon/rights/entitlements.h"
#include "report/event_log/event_names.h"

namespace orrery {
namespace {

using nlohmann::json;
constexpr auto kNeeded = Need::Required;
constexpr auto kMaybe = Need::Optional;

Status read_span(const LogLine& line, const char* key, Duration& duration) {
  std::int64_t count = 0;
  TRY(line.integer(key, count, kMaybe));
  duration = Duration(count);
  return {};
}

Result<Entry> read_term(const LogLine& line) {
  TermBegan entry;
  TRY(line.integer("term", entry.term, kNeeded));
  TRY(read_policy(line, entry.policy));
  TRY(read_span(line, "lease", entry.lease));
  TRY(read_span(line, "node_timeout", entry.node_timeout));
  return Entry(std::move(entry));
}

Result<Entry> read_log(const LogLine& line) {
  LogNamed entry;
  TRY(line.text("id", entry.id, kMaybe));
  TRY(line.integer("first", entry.first, kMaybe));
  TRY(line.integer("epoch_floor", entry.epoch_floor, kMaybe));
  const json* restored = line.find("restored");
  entry.restored = restored != nullptr && *restored == true;
  TRY(line.text("by", entry.by, kMaybe));
  return Entry(std::move(entry));
}

Result<Entry> read_found(const LogLine& line, JobNumber job) {
  LaunchFound entry{.launch = {.job = job}};
  TRY(line.integer("epoch", entry.launch.epoch, kMaybe));
  TRY(line.integer("rank", entry.launch.rank, kMaybe, 0, kMax<int>));
  TRY(line.text("node", entry.node, kNeeded));
  return Entry(std::move(entry));
}

Result<Entry> read_policy_changed(const LogLine& line) {
  PolicyChanged entry;
  TRY(read_policy(line, entry.policy));
  TRY(line.text("by", entry.by, kMaybe));
  return Entry(std::move(entry));
}

Result<Entry> read_submitted(const LogLine& line, JobNumber job) {
  Submitted entry{.first = job};
  TRY(line.text("key", entry.key, kMaybe));
  TRY_ASSIGN(const json* request, line.nested("request"));
  TRY_ASSIGN(entry.request, read_job_request(*request));
  return Entry(std::move(entry));
}

Result<Entry> read_node(const LogLine& line) {
  NodeJoined entry;
  TRY(read_offer(line, entry.offer));
  TRY(line.text("instance", entry.instance, kMaybe));
  TRY(line.text("machine", entry.machine, kMaybe));
  TRY(line.text("boot", entry.boot, kMaybe));
  return Entry(std::move(entry));
}

Result<Entry> read_node_state(const LogLine& line) {
  NodeTurned entry;
  TRY(line.text("node", entry.node, kNeeded));
  TRY(line.text("by", entry.by, kMaybe));
  std::string state;
  TRY(line.text("state", state, kNeeded));
  const json* draining = line.find("draining");
  entry.draining = draining != nullptr && *draining == true;
  const json* clears = line.find("clears");
  entry.clears = clears != nullptr && *clears == true;
  const json* gone = line.find("gone");
  entry.gone = gone != nullptr && *gone == true;
  const json* heard = line.find("heard");
  entry.heard = heard != nullptr && *heard == true;
  for (const NodeState each :
       {NodeState::Up, NodeState::Lost, NodeState::Left, NodeState::Removed}) {
    if (state != to_string(each)) continue;
    entry.state = each;
    return Entry(std::move(entry));
  }
  return invalid(fmt::format("'{}' is no state of a node", state));
}

Result<Entry> read_ended(const LogLine& line, JobNumber job) {
  LaunchEnded entry{.launch = {.job = job}};
  TRY(line.integer("epoch", entry.launch.epoch, kMaybe));
  TRY(line.integer("rank", entry.launch.rank, kMaybe, 0, kMax<int>));
  TRY(read_end(line, entry.end));
  return Entry(std::move(entry));
}

Result<Entry> read_progress(const LogLine& line, JobNumber job) {
  Progressed entry{.job = job};
  TRY(line.number("iteration", entry.iteration, kMaybe));
  TRY(line.number("iterations", entry.iterations, kMaybe));
  TRY(line.number("checkpointed", entry.checkpointed, kMaybe));
  return Entry(entry);
}

Result<Entry> read_quota(const LogLine& line) {
  QuotaSet entry;
  TRY(line.text("tenant", entry.tenant, kNeeded));
  TRY(line.text("by", entry.by, kMaybe));
  if (line.find("gpus") != nullptr) {
    int gpus = 0;
    TRY(line.integer("gpus", gpus, kNeeded, 0, kMax<int>));
    entry.gpus = gpus;
  }
  const json* borrows = line.find("borrows");
  entry.borrows = borrows == nullptr || *borrows != false;
  return Entry(std::move(entry));
}

Result<Entry> read_members(const LogLine& line) {
  MembersSet entry;
  TRY(line.text("tenant", entry.tenant, kNeeded));
  TRY(line.text("by", entry.by, kMaybe));
  if (line.find("members") != nullptr) TRY(read_names(line, "members", entry.members.emplace()));
  return Entry(std::move(entry));
}

Result<Entry> read_limits_set(const LogLine& line) {
  LimitsSet entry;
  std::string scope;
  TRY(line.text("scope", scope, kNeeded));
  const auto known = limit_scope_named(scope);
  if (!known) return invalid(fmt::format("'{}' has no limits", scope));
  entry.scope = *known;
  TRY(line.text("name", entry.name, kMaybe));
  TRY(line.text("by", entry.by, kMaybe));
  TRY(read_limits(line, entry.limits));
  return Entry(std::move(entry));
}

Status read_devices(const LogLine& line, Decided& entry) {
  TRY_ASSIGN(const json* list, line.list("gpus"));
  for (const json& share : *list) {
    if (!share.is_array() || share.size() != 2 || !share[0].is_string() || !share[1].is_string()) {
      return invalid("gpus is a list of [node, \"hexadecimal bits\"]");
    }
    const auto& bits = share[1].get_ref<const std::string&>();
    std::uint64_t gpus = 0;
    const auto end = bits.data() + bits.size();
    const auto [stop, error] = std::from_chars(bits.data(), end, gpus, 16);
    if (stop != end || error != std::errc() || gpus == 0) {
      return invalid(fmt::format("'{}' are no GPUs of a node", bits));
    }
    entry.devices.emplace_back(share[0].get<std::string>(), gpus);
  }
  return {};
}

Status read_grant(const LogLine& line, Decided& entry) {
  if (line.find("gpus") == nullptr) return {};
  TRY(read_devices(line, entry));
  TRY(line.integer("cpu_milli", entry.cpu_milli, kMaybe));
  TRY(line.integer("memory", entry.memory_bytes, kMaybe));
  TRY(line.integer("group", entry.group, kMaybe, -1, kMax<int>));
  TRY(line.integer("position", entry.position, kMaybe, 0, kMax<int>));
  TRY(line.number("rate", entry.iterations_per_s, kMaybe));
  TRY(line.time("ready", entry.ready, kMaybe));
  std::string sharing;
  TRY(line.text("sharing", sharing, kMaybe));
  if (sharing.empty()) return {};
  const auto known = named<Sharing>(kSharingNames, sharing);
  if (!known) return invalid(fmt::format("'{}' is no way to share", sharing));
  entry.sharing = *known;
  return {};
}

constexpr bool holds(EventKind kind) {
  return kind >= EventKind::Started && kind <= EventKind::Regrouped;
}

Result<Entry> read_decided(const LogLine& line, std::string_view kind, JobNumber job) {
  Decided entry{.job = job};
  bool known = false;
  for (int i = static_cast<int>(EventKind::Admitted); i <= static_cast<int>(EventKind::Cancelled);
       ++i) {
    if (to_string(static_cast<EventKind>(i)) != kind) continue;
    entry.kind = static_cast<EventKind>(i);
    known = true;
  }
  if (!known) return invalid(fmt::format("'{}' is nothing that happens", kind));
  TRY(read_grant(line, entry));
  if (holds(entry.kind) && entry.devices.empty()) return invalid("\"gpus\" is missing");
  TRY(line.number("left", entry.work_left, kMaybe));
  TRY(read_reason(line, entry.reason, entry.reason_other));
  TRY(line.time("promised", entry.promised, kMaybe));
  TRY(line.time("finished", entry.finished, kMaybe));
  return Entry(std::move(entry));
}

Result<Entry> read_body(const Record& record, const LogLine& line) {
  const std::string_view kind = record.kind;
  const auto job = record.job;
  if (kind == "round") return Entry(RoundHeld{});
  if (kind == "term") return read_term(line);
  if (kind == "log") return read_log(line);
  if (kind == "policy") return read_policy_changed(line);
  if (kind == "node") return read_node(line);
  if (kind == "node-state") return read_node_state(line);
  if (kind == "quota") return read_quota(line);
  if (kind == "members") return read_members(line);
  if (kind == "limits") return read_limits_set(line);
  if (kind == "era") {
    EraBegan entry;
    TRY(line.integer("unix_ns", entry.unix_ns, kNeeded));
    return Entry(entry);
  }
  if (kind == "token") {
    TokenKept entry;
    TRY(line.text("id", entry.id, kNeeded));
    TRY(line.text("line", entry.line, kMaybe));
    return Entry(std::move(entry));
  }
  if (record.job == kNoJobNumber || job < 1) return invalid("names no job");
  if (kind == "submitted") return read_submitted(line, job);
  if (kind == "ended") return read_ended(line, job);
  if (kind == "found") return read_found(line, job);
  if (kind == "progress") return read_progress(line, job);
  if (kind == "cancel") {
    CancelAsked entry{.job = job};
    TRY(line.text("by", entry.by, kMaybe));
    return Entry(std::move(entry));
  }
  return read_decided(line, kind, job);
}

}  // namespace

Result<Entry> read_entry(const Record& record) {
  const auto place = [&](Error error) {
    return Error{Code::DataLoss,
                 fmt::format("log entry {} ({}): {}", record.sequence, record.kind, error.message)};
  };
  const json body = json::parse(record.body, nullptr, false);
  if (!body.is_object()) return place(invalid("is no JSON object"));
  Result<Entry> entry = read_body(record, LogLine(body));
  if (!entry.ok()) return place(std::move(entry).error());
  return entry;
}

}  // namespace orrery
