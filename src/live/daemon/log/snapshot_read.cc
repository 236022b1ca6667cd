#include <fmt/format.h>

#include <charconv>
#include <nlohmann/json.hpp>
#include <sstream>

#include "live/api/job_request_object.h"
#include "live/daemon/log/entry_parts.h"
#include "live/daemon/log/snapshot.h"

namespace orrery {
namespace {

using nlohmann::json;
constexpr auto kNeeded = Need::Required;
constexpr auto kMaybe = Need::Optional;

Error bad(std::string message) { return {Code::DataLoss, std::move(message)}; }

// A row of a list: numbers, and bits as hexadecimal text.
class Row {
 public:
  explicit Row(const json& row) : row_(row) {}

  std::int64_t next() {
    const bool there = row_.is_array() && place_ < row_.size() && row_[place_].is_number_integer();
    ok_ = ok_ && there;
    return there ? row_[place_++].get<std::int64_t>() : 0;
  }
  std::uint64_t next_bits() {
    std::uint64_t bits = 0;
    ok_ = ok_ && row_.is_array() && place_ < row_.size() && row_[place_].is_string();
    if (!ok_) return 0;
    const auto& text = row_[place_++].get_ref<const std::string&>();
    const auto end = text.data() + text.size();
    ok_ = std::from_chars(text.data(), end, bits, 16).ptr == end;
    return bits;
  }
  bool has_more() const { return ok_ && place_ < row_.size(); }
  bool ok() const { return ok_; }

 private:
  const json& row_;
  std::size_t place_ = 0;
  bool ok_ = true;
};

template <class Take>
Status read_rows(const LogLine& line, const char* key, Take take) {
  if (line.find(key) == nullptr) return {};
  TRY_ASSIGN(const json* rows, line.list(key));
  for (const json& each : *rows) {
    Row row(each);
    take(row);
    if (!row.ok()) return bad(fmt::format("\"{}\" has a row that cannot be read", key));
  }
  return {};
}

Status read_time(const LogLine& line, const char* key, std::optional<Time>& time) {
  if (line.find(key) == nullptr) return {};
  Time found{};
  TRY(line.time(key, found, kNeeded));
  time = found;
  return {};
}

Status read_duration(const LogLine& line, const char* key, Duration& duration) {
  std::int64_t count = 0;
  TRY(line.integer(key, count, kMaybe));
  duration = Duration(count);
  return {};
}

Status read_live(const LogLine& line, LiveJob& live, std::size_t nodes) {
  TRY(line.integer("array", live.array_index, kMaybe, -1, kMax<int>));
  TRY(line.time("submitted", live.submitted, kMaybe));
  TRY(read_time(line, "started", live.started));
  TRY(read_time(line, "ended", live.ended));
  TRY(line.integer("epoch", live.epoch, kMaybe));
  live.wanted = line.find("on") != nullptr;
  TRY(line.integer("failures", live.failures, kMaybe, 0, kMax<int>));
  TRY(line.integer("told", live.queued_for, kMaybe, 0,
                   static_cast<int>(Reason::Code::TenantLimit)));
  TRY(line.number("iteration", live.iteration, kMaybe));
  TRY(line.number("iterations", live.iterations, kMaybe));
  TRY(line.number("checkpointed", live.checkpointed, kMaybe));
  TRY(line.time("progressed", live.progressed, kMaybe));
  if (line.find("end") != nullptr) {
    live.end.emplace();
    TRY(read_end(line, *live.end));
    TRY(line.integer("end_rank", live.end->rank, kMaybe, -1, kMax<int>));
    TRY(line.text("end_node", live.end->node, kMaybe));
  }
  TRY(read_reason(line, live.reason, live.reason_other));
  TRY(read_rows(line, "runs", [&](Row& row) {
    EpochRun run{.epoch = row.next()};
    run.ranks = static_cast<int>(row.next());
    run.done = static_cast<int>(row.next());
    // Older snapshots have no more.
    if (row.has_more()) run.began = Time(Duration(row.next()));
    if (row.has_more()) run.ran = Duration(row.next());
    if (row.has_more()) run.ran_before = Duration(row.next());
    live.runs.push_back(run);
  }));
  bool known = true;
  TRY(read_rows(line, "launches", [&](Row& row) {
    LiveLaunch launch{.name = {.job = live.number, .epoch = row.next()}};
    launch.name.rank = static_cast<int>(row.next());
    const std::int64_t node = row.next();
    known = known && node >= 0 && static_cast<std::size_t>(node) < nodes;
    launch.node = static_cast<NodeId>(node);
    launch.gpus = row.next_bits();
    launch.local_rank = static_cast<int>(row.next());
    launch.local_ranks = static_cast<int>(row.next());
    launch.node_index = static_cast<int>(row.next());
    if (row.has_more()) launch.node_timeout = Duration(row.next());
    live.launches.push_back(launch);
  }));
  if (line.find("ran_on") != nullptr) {
    TRY_ASSIGN(const json* list, line.list("ran_on"));
    for (const json& node : *list) {
      TRY_ASSIGN(const std::int64_t id,
                 LogLine::whole(node, "ran_on", 0, static_cast<std::int64_t>(nodes) - 1));
      live.ran_on.push_back(static_cast<NodeId>(id));
    }
  }
  return known ? Status() : Status(bad("a process is on a node that is not there"));
}

Status read_state(const LogLine& line, Job& job, std::size_t nodes) {
  std::string state;
  TRY(line.text("state", state, kNeeded));
  bool known = false;
  for (int i = 0; i <= static_cast<int>(JobState::Cancelled); ++i) {
    if (to_string(static_cast<JobState>(i)) != state) continue;
    job.state = static_cast<JobState>(i);
    known = true;
  }
  if (!known) return bad(fmt::format("'{}' is no state of a job", state));
  TRY(read_duration(line, "attained", job.attained));
  TRY(read_duration(line, "worked", job.worked));
  TRY(line.time("worked_until", job.worked_until, kMaybe));
  TRY(line.number("left", job.work_left, kMaybe));
  TRY(read_time(line, "promised", job.promised));
  if (job.state != JobState::Running) return {};
  TRY(line.time("run_since", job.run_since, kMaybe));
  TRY(line.time("ready", job.ready, kMaybe));
  Grant& held = job.held;
  held.job = job.spec->id;
  TRY(read_rows(line, "held", [&](Row& row) {
    const std::int64_t node = row.next();
    known = known && node >= 0 && static_cast<std::size_t>(node) < nodes;
    held.devices.push_back({.node = static_cast<NodeId>(node), .gpus = row.next_bits()});
  }));
  if (!known || held.devices.empty()) return bad("a job runs on a node that is not there");
  TRY(line.integer("cpu_milli", held.cpu_milli, kMaybe));
  TRY(line.integer("memory", held.memory_bytes, kMaybe));
  TRY(line.integer("sharing", held.sharing, kMaybe, 0, 3));
  TRY(line.integer("group", held.group, kMaybe, -1, kMax<std::int32_t>));
  TRY(line.integer("position", held.position, kMaybe, 0, kMax<int>));
  return line.number("rate", held.iterations_per_s, kMaybe);
}

}  // namespace

Status Snapshots::read_header(const LogLine& line, Book& book) {
  TRY(line.time("t", book.time_, kMaybe));
  TRY(line.integer("unix_ns", book.unix_ns_, kMaybe));
  TRY(line.integer("term", book.term_.term, kMaybe));
  TRY(line.text("log", book.origin_.id, kMaybe));
  TRY(line.integer("epoch_floor", book.origin_.epoch_floor, kMaybe));
  TRY(line.integer("restored_before", book.origin_.restored_before, kMaybe));
  TRY(read_duration(line, "lease", book.term_.lease));
  TRY(read_duration(line, "node_timeout", book.term_.node_timeout));
  TRY(line.integer("next", book.next_number_, kNeeded, 1));
  return line.find("policy") == nullptr ? Status() : read_policy(line, book.term_.policy);
}

Status Snapshots::read_node(const LogLine& line, Book& book) {
  NodeJoined joined;
  TRY(read_offer(line, joined.offer));
  TRY(line.text("instance", joined.instance, kMaybe));
  TRY(line.text("machine", joined.machine, kMaybe));
  TRY(line.text("boot", joined.boot, kMaybe));
  TRY(book.take(joined));
  std::string boots;
  TRY(line.text("past_boots", boots, kMaybe));
  std::istringstream words(boots);
  for (std::string boot; words >> boot;) {
    book.node(*book.find_node(joined.offer.name)).past_boots.insert(boot);
  }
  NodeTurned turned{.node = joined.offer.name, .draining = line.find("draining") != nullptr};
  std::string state;
  TRY(line.text("state", state, kNeeded));
  for (const NodeState each :
       {NodeState::Up, NodeState::Lost, NodeState::Left, NodeState::Removed}) {
    if (to_string(each) == state) turned.state = each;
  }
  TRY(book.take(turned));
  if (line.find("unheard") == nullptr) return {};
  book.node(*book.find_node(joined.offer.name)).unheard = true;
  ++book.origin_.nodes_unheard;
  return {};
}

Status Snapshots::read_rights(const LogLine& line, Book& book) {
  if (line.find("members_of") != nullptr) {
    MembersSet entry;
    TRY(line.text("members_of", entry.tenant, kNeeded));
    TRY(read_names(line, "members", entry.members.emplace()));
    book.entitlements_.take(entry);
    return {};
  }
  LimitsSet entry;
  std::string scope;
  TRY(line.text("limits_of", scope, kNeeded));
  const auto known = limit_scope_named(scope);
  if (!known) return bad(fmt::format("'{}' has no limits", scope));
  entry.scope = *known;
  TRY(line.text("name", entry.name, kMaybe));
  TRY(read_limits(line, entry.limits));
  book.entitlements_.take(entry);
  return {};
}

Status Snapshots::read_job(const LogLine& line, Book& book, const Restore& restore) {
  LiveJob live;
  TRY(line.integer("number", live.number, kNeeded, 1));
  if (line.find("request") != nullptr) {
    TRY_ASSIGN(const json* object, line.nested("request"));
    TRY_ASSIGN(JobRequest request, read_job_request(*object));
    if (request.argv.empty()) return bad("a job without a command");
    live.request = std::make_shared<const JobRequest>(std::move(request));
  } else if (!book.jobs_.empty()) {
    live.request = book.jobs_.back().request;
  } else {
    return bad("the first job has no request");
  }
  std::string key;
  TRY(line.text("key", key, kMaybe));
  if (!key.empty()) book.keys_[key] = live.number;
  TRY(read_live(line, live, book.nodes_.size()));
  add_spec(book.workload_, book.names_, *live.request, live.array_index, live.submitted,
           book.options_);
  Job job;
  job.spec = &book.workload_.jobs.back();
  TRY(read_state(line, job, book.nodes_.size()));
  for (const LiveLaunch& launch : live.launches) {
    book.nodes_[index(launch.node)].launches.insert(launch.name);
  }
  if (live.waits()) book.pending_.add(*live.request, 1);
  book.jobs_.push_back(std::move(live));
  restore(std::move(job));
  return {};
}

Status Snapshots::read(std::string_view text, Book& book, const Restore& restore) {
  std::size_t number = 0;
  while (!text.empty()) {
    ++number;
    const std::size_t end = std::min(text.find('\n'), text.size());
    const json object = json::parse(text.substr(0, end), nullptr, false);
    text.remove_prefix(std::min(end + 1, text.size()));
    const auto place = [&](Error error) {
      return bad(fmt::format("snapshot line {}: {}", number, error.message));
    };
    if (!object.is_object()) return place(bad("is no JSON object"));
    const LogLine line(object);
    Status status;
    if (number == 1) {
      status = read_header(line, book);
    } else if (line.find("node") != nullptr) {
      status = read_node(line, book);
    } else if (line.find("tenant") != nullptr) {
      QuotaSet quota{.gpus = 0, .borrows = line.find("borrows") != nullptr};
      status = line.text("tenant", quota.tenant, kNeeded);
      if (status.ok()) status = line.integer("gpus", *quota.gpus, kMaybe, 0, kMax<int>);
      if (status.ok()) book.entitlements_.take(quota);
    } else if (line.find("members_of") != nullptr || line.find("limits_of") != nullptr) {
      status = read_rights(line, book);
    } else if (line.find("token") != nullptr) {
      TokenKept token;
      status = line.text("token", token.id, kNeeded);
      if (status.ok()) status = line.text("line", token.line, kMaybe);
      if (status.ok()) status = book.take(token);
    } else {
      status = read_job(line, book, restore);
    }
    if (!status.ok()) return place(std::move(status).error());
  }
  return number == 0 ? Status(bad("an empty snapshot")) : Status();
}

}  // namespace orrery
