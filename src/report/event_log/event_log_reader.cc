#include "report/event_log/event_log_reader.h"

#include <fmt/format.h>

#include <charconv>
#include <utility>

#include "report/event_log/event_names.h"
#include "report/event_log/log_line.h"

namespace orrery {
namespace {

using nlohmann::json;

// Ids are dense, so a table of jobs or profiles is as long as the largest id. An id this far beyond
// those met so far is damage, and would only fill the memory.
constexpr std::int64_t kIdGapMax = 1 << 16;

std::optional<EventKind> kind_named(std::string_view text) {
  for (int i = 0; i <= static_cast<int>(EventKind::NodeBack); ++i) {
    if (to_string(static_cast<EventKind>(i)) == text) return static_cast<EventKind>(i);
  }
  return std::nullopt;
}

// The id of an entry of a table, which is spelled out by `body` where it is first used. Null: there
// is no id, or its entry is known. Otherwise the table has a place for it.
template <class Id, class Entry>
Result<const json*> new_entry(const LogLine& spec, const char* key, const char* body, Id& id,
                              std::vector<Entry>& table) {
  const std::size_t known = table.size();
  TRY(spec.integer(key, id, Need::Optional, 0, static_cast<std::int64_t>(known) + kIdGapMax));
  if (id == Id{-1}) return nullptr;
  if (spec.find(body) != nullptr) {
    if (index(id) >= known) table.resize(index(id) + 1);
    return spec.nested(body);
  }
  if (index(id) < known && table[index(id)] != Entry{}) return nullptr;
  return invalid(fmt::format("\"{}\" has not been spelled out by \"{}\" so far", key, body));
}

}  // namespace

EventLogReader::EventLogReader(std::unique_ptr<LogLines> lines, std::string name)
    : lines_(std::move(lines)), name_(std::move(name)) {}

Result<EventLogReader> EventLogReader::open(const std::string& path) {
  TRY_ASSIGN(auto lines, LogLines::open(path));
  EventLogReader reader(std::move(lines), path);
  TRY(reader.read_header());
  return reader;
}

Result<EventLogReader> EventLogReader::from(std::istream& stream, const std::string& name) {
  EventLogReader reader(LogLines::from(stream, name), name);
  TRY(reader.read_header());
  return reader;
}

Error EventLogReader::at_line(Error error) const {
  return std::move(error).at(fmt::format("{}:{}", name_, line_number_));
}

Status EventLogReader::read_header() {
  line_number_ = 1;
  auto got = lines_->next(text_);
  if (!got.ok()) return at_line(std::move(got).error());
  const json header = json::parse(text_, nullptr, false);
  const auto version = header.is_object() ? header.find("orrery_events") : header.end();
  if (!header.is_object() || version == header.end()) {
    return at_line(invalid(
        "not an event log: the first line must be an object with \"orrery_events\", as `orrery "
        "simulate --events FILE` writes it"));
  }
  if (*version != 1) return at_line(invalid("a later version of the log; this program reads 1"));
  const auto read = [&]() -> Status {
    const LogLine line(header);
    TRY(line.text("trace", workload_.name, Need::Optional));
    TRY(read_run(line, run_));
    TRY_ASSIGN(const json* cluster_json, line.nested("cluster"));
    const LogLine cluster(*cluster_json);
    TRY(cluster.text("name", cluster_.name, Need::Optional));
    TRY_ASSIGN(const json* nodes, cluster.list("nodes"));
    for (const json& entry : *nodes) {
      if (!entry.is_object()) return invalid("a node is not an object");
      const LogLine line_of_node(entry);
      Node node;
      TRY(line_of_node.text("name", node.name, Need::Optional));
      TRY(line_of_node.integer("gpus", node.gpus, Need::Required, 0, kGpusPerNodeMax));
      TRY(line_of_node.integer("cpu_milli", node.cpu_milli, Need::Optional));
      TRY(line_of_node.integer("memory", node.memory_bytes, Need::Optional));
      TRY(line_of_node.integer("gpu_memory", node.gpu_memory_bytes, Need::Optional));
      TRY(line_of_node.text("gpu_type", node.gpu_type, Need::Optional));
      TRY(line_of_node.integer("switch", node.switch_index, Need::Optional, 0, kMax<int>));
      cluster_.nodes.push_back(std::move(node));
    }
    return {};
  };
  if (auto status = read(); !status.ok()) return at_line(std::move(status).error());
  return {};
}

Result<bool> EventLogReader::next(Event& event) {
  ++line_number_;
  auto got = lines_->next(text_);
  if (!got.ok()) return at_line(std::move(got).error());
  if (!got.value()) return false;
  const json object = json::parse(text_, nullptr, false);
  if (object.is_discarded()) {
    return at_line(invalid("not a JSON object; was the log cut off while it was written?"));
  }
  if (!object.is_object()) return at_line(invalid("not a JSON object"));
  event = Event{};
  Status status = read_event(LogLine(object), event);
  if (status.ok()) status = follow(event);
  if (!status.ok()) return at_line(std::move(status).error());
  return true;
}

Status EventLogReader::read_event(const LogLine& line, Event& event) {
  std::string kind_text;
  TRY(line.time("t", event.time, Need::Required));
  TRY(line.integer("seq", event.sequence, Need::Required));
  TRY(line.text("event", kind_text, Need::Required));
  const auto kind = kind_named(kind_text);
  if (!kind) return invalid(fmt::format("unknown event \"{}\"", kind_text));
  event.kind = *kind;
  if (is_about_node(event.kind)) {
    const auto nodes = static_cast<std::int64_t>(cluster_.nodes.size());
    return line.integer("node", event.node, Need::Required, 0, nodes - 1);
  }
  TRY(line.integer("job", event.job, Need::Required, 0, kMax<std::int32_t>));
  TRY(line.number("left", event.work_left, Need::Optional));
  TRY(line.number("lost", event.work_lost, Need::Optional));
  TRY(read_reason(line, event.reason));
  if (event.kind == EventKind::Admitted) {
    TRY(line.time("promised", event.promised, Need::Required));
  }
  if (event.kind == EventKind::Completed) {
    event.finished = event.time;
    TRY(line.time("finished", event.finished, Need::Optional));
    if (event.finished > event.time) return invalid("\"finished\" is after the event");
  }
  if (event.kind == EventKind::Submitted) {
    TRY(read_spec(line, event));
    event.spec = &spec_;
  }
  if (event.kind >= EventKind::Started && event.kind <= EventKind::Regrouped) {
    TRY(read_grant(line, event));
    event.grant = &grant_;
  }
  return {};
}

Status EventLogReader::read_spec(const LogLine& line, const Event& event) {
  TRY_ASSIGN(const json* object, line.nested("spec"));
  const LogLine spec(*object);
  spec_ = JobSpec{};
  spec_.id = event.job;
  TRY(spec.text("name", spec_.name, Need::Optional));
  TRY(spec.time("submitted", spec_.submitted, Need::Required));
  TRY(spec.integer("gpus", spec_.gpus, Need::Required, 0, kMax<int>));
  TRY(spec.number("iterations", spec_.iterations, Need::Required));
  TRY(spec.number("iteration_s", spec_.iteration_s, Need::Required));
  TRY(spec.integer("cpu_milli", spec_.cpu_milli, Need::Optional));
  TRY(spec.integer("memory", spec_.memory_bytes, Need::Optional));
  TRY(spec.integer("gpu_memory", spec_.gpu_memory_bytes, Need::Optional));
  std::int64_t start_cost = 0;
  TRY(spec.integer("start_cost", start_cost, Need::Optional));
  spec_.start_cost = Duration(start_cost);
  std::int64_t checkpoint_cost = 0;
  TRY(spec.integer("checkpoint_cost", checkpoint_cost, Need::Optional));
  spec_.checkpoint_cost = Duration(checkpoint_cost);
  TRY(read_name(spec, "model", spec_.model));
  TRY(read_name(spec, "user", spec_.user));
  TRY(read_name(spec, "gpu_type", spec_.gpu_type));
  TRY(spec.integer("batch_size", spec_.batch_size, Need::Optional, 0, kMax<int>));
  TRY(spec.integer("lasting", spec_.lasting, Need::Optional, 0, 1));
  TRY(spec.integer("priority", spec_.priority, Need::Optional, -kMax<int>, kMax<int>));
  TRY(read_deadline(spec));
  TRY(read_profile(spec));
  TRY(read_curve(spec));
  return read_sensitivity(spec);
}

Status EventLogReader::read_deadline(const LogLine& spec) {
  if (spec.find("deadline") != nullptr) {
    Time deadline{};
    TRY(spec.time("deadline", deadline, Need::Required));
    spec_.deadline = deadline;
  }
  std::string kind_text(kDeadlineNames[0]);
  TRY(spec.text("deadline_kind", kind_text, Need::Optional));
  const auto kind = named<DeadlineKind>(kDeadlineNames, kind_text);
  if (!kind) return invalid(fmt::format("unknown \"deadline_kind\" \"{}\"", kind_text));
  spec_.deadline_kind = *kind;
  return spec.number("deadline_value", spec_.deadline_value, Need::Optional);
}

Status EventLogReader::read_profile(const LogLine& spec) {
  TRY_ASSIGN(const json* stages,
             new_entry(spec, "profile", "stages", spec_.profile, workload_.profiles));
  if (stages == nullptr) return {};
  TRY_ASSIGN(const json* seconds_list, LogLine(*stages).list("stage_s"));
  TRY_ASSIGN(const json* slots_list, LogLine(*stages).list("slots"));
  if (seconds_list->size() != slots_list->size()) {
    return invalid("\"stage_s\" and \"slots\" differ in length");
  }
  StageProfile profile;
  for (const json& entry : *seconds_list) {
    TRY(LogLine::real(entry, "stage_s", profile.stage_s.emplace_back()));
  }
  for (const json& entry : *slots_list) {
    TRY_ASSIGN(const std::int64_t slot, LogLine::whole(entry, "slots", 0, kMax<int>));
    profile.slots.push_back(static_cast<int>(slot));
  }
  workload_.profiles[index(spec_.profile)] = std::move(profile);
  return {};
}

Status EventLogReader::read_curve(const LogLine& spec) {
  TRY_ASSIGN(const json* speeds, new_entry(spec, "curve", "speeds", spec_.curve, workload_.curves));
  if (speeds == nullptr) return {};
  TRY_ASSIGN(const json* points, LogLine(*speeds).list("points"));
  SpeedCurve curve;
  TRY(LogLine(*speeds).integer("widest", curve.widest, Need::Optional, 0, kMax<int>));
  for (const json& entry : *points) {
    TRY_ASSIGN(const LogLine::Speed point, LogLine::speed(entry, "points", 1));
    const SpeedCurve::Point next{point.counts[0], point.iterations_per_s};
    if (!curve.points.empty() && curve.points.back().gpus >= next.gpus) {
      return invalid("the GPUs of \"points\" do not rise");
    }
    curve.points.push_back(next);
  }
  if (LogLine(*speeds).find("spreads") != nullptr) {
    TRY_ASSIGN(const json* spreads, LogLine(*speeds).list("spreads"));
    for (const json& entry : *spreads) {
      TRY_ASSIGN(const LogLine::Speed spread, LogLine::speed(entry, "spreads", 2));
      const auto [gpus, nodes] = spread.counts;
      if (!curve.spreads.empty() &&
          std::pair(curve.spreads.back().gpus, curve.spreads.back().nodes) >=
              std::pair(gpus, nodes)) {
        return invalid("the GPUs and nodes of \"spreads\" do not rise");
      }
      curve.spreads.push_back({gpus, nodes, spread.iterations_per_s});
    }
  }
  workload_.curves[index(spec_.curve)] = std::move(curve);
  return {};
}

Status EventLogReader::read_sensitivity(const LogLine& spec) {
  TRY_ASSIGN(const json* table, new_entry(spec, "sensitivity", "host_speeds", spec_.sensitivity,
                                          workload_.sensitivities));
  if (table == nullptr) return {};
  TRY_ASSIGN(workload_.sensitivities[index(spec_.sensitivity)],
             orrery::read_sensitivity(LogLine(*table)));
  return {};
}

Status EventLogReader::read_name(const LogLine& spec, const char* key, NameId& id) {
  if (spec.find(key) == nullptr) return {};
  std::string name;
  TRY(spec.text(key, name, Need::Required));
  const auto next_id = static_cast<NameId>(workload_.names.size());
  const auto [entry, is_new] = name_ids_.emplace(std::move(name), next_id);
  if (is_new) workload_.names.push_back(entry->first);
  id = entry->second;
  return {};
}

Status EventLogReader::read_grant(const LogLine& line, Event& event) {
  TRY_ASSIGN(const json* object, line.nested("grant"));
  const LogLine grant(*object);
  grant_ = Grant{};
  grant_.job = event.job;
  TRY(read_devices(grant));
  TRY(grant.integer("cpu_milli", grant_.cpu_milli, Need::Optional));
  TRY(grant.integer("memory", grant_.memory_bytes, Need::Optional));
  std::string sharing_text(kSharingNames[0]);
  TRY(grant.text("sharing", sharing_text, Need::Optional));
  const auto sharing = named<Sharing>(kSharingNames, sharing_text);
  if (!sharing) return invalid(fmt::format("unknown \"sharing\" \"{}\"", sharing_text));
  grant_.sharing = *sharing;
  TRY(grant.integer("group", grant_.group, Need::Optional, 0, kMax<std::int32_t>));
  TRY(grant.integer("position", grant_.position, Need::Optional, 0, kMax<int>));
  TRY(grant.number("rate", grant_.iterations_per_s, Need::Optional));
  return line.time("ready", event.ready, Need::Required);
}

Status EventLogReader::read_devices(const LogLine& grant) {
  TRY_ASSIGN(const json* shares, grant.list("gpus"));
  for (const json& entry : *shares) {
    if (!entry.is_array() || entry.size() != 2 || !entry[1].is_string()) {
      return invalid("an entry of \"gpus\" is not [node, \"hexadecimal mask\"]");
    }
    const auto nodes = static_cast<std::int64_t>(cluster_.nodes.size());
    TRY_ASSIGN(const std::int64_t node, LogLine::whole(entry[0], "gpus", 0, nodes - 1));
    const std::string& hex = entry[1].get_ref<const std::string&>();
    std::uint64_t mask = 0;
    const auto [end, failure] = std::from_chars(hex.data(), hex.data() + hex.size(), mask, 16);
    if (failure != std::errc() || end != hex.data() + hex.size() || hex.empty()) {
      return invalid(fmt::format("\"{}\" is not a hexadecimal mask of GPUs", hex));
    }
    const int gpus = cluster_.nodes[static_cast<std::size_t>(node)].gpus;
    if (gpus < kGpusPerNodeMax && (mask >> gpus) != 0) {
      return invalid(
          fmt::format("mask {} names GPUs that node {} lacks; it has {}", hex, node, gpus));
    }
    for (const NodeShare& earlier : grant_.devices) {
      if (index(earlier.node) != static_cast<std::size_t>(node)) continue;
      return invalid(fmt::format("node {} is named twice in a grant", node));
    }
    grant_.devices.push_back({static_cast<NodeId>(node), mask});
  }
  return {};
}

Status EventLogReader::read_reason(const LogLine& line, Reason& reason) const {
  if (line.find("reason") == nullptr) return {};
  TRY_ASSIGN(const json* object, line.nested("reason"));
  const LogLine fields(*object);
  std::string code_text;
  TRY(fields.text("code", code_text, Need::Required));
  const auto code = named<Reason::Code>(kReasonNames, code_text);
  if (!code) return invalid(fmt::format("unknown reason \"{}\"", code_text));
  constexpr std::int64_t kLow = std::numeric_limits<std::int64_t>::min();
  reason.code = *code;
  TRY(fields.integer("other", reason.other, Need::Optional, 0, kMax<std::int32_t>));
  TRY(fields.integer("wanted", reason.wanted, Need::Optional, kLow));
  TRY(fields.integer("available", reason.available, Need::Optional, kLow));
  TRY(fields.time("from", reason.from, Need::Optional));
  TRY(fields.time("until", reason.until, Need::Optional));
  return fields.time("earliest", reason.earliest, Need::Optional);
}

Status EventLogReader::follow(const Event& event) {
  if (last_time_ && event.time < *last_time_) return invalid("time runs backwards");
  last_time_ = event.time;
  if (is_about_node(event.kind)) return follow_node(event);
  const std::size_t job = index(event.job);
  if (event.kind == EventKind::Submitted) {
    if (job > lives_.size() + kIdGapMax) {
      return invalid(fmt::format("job {} is far beyond the {} jobs so far", job, lives_.size()));
    }
    if (job >= lives_.size()) lives_.resize(job + 1);
    if (lives_[job].stage != Stage::Unknown) return invalid(fmt::format("job {} comes twice", job));
    lives_[job].stage = Stage::Waiting;
    return {};
  }
  if (job >= lives_.size() || lives_[job].stage == Stage::Unknown) {
    return invalid(fmt::format("job {} was never submitted", job));
  }
  Life& life = lives_[job];
  const auto refuse = [&](std::string_view why) {
    return invalid(fmt::format("job {} is {} although it {}", job, to_string(event.kind), why));
  };
  if (life.stage == Stage::Ended) return refuse("has ended");
  switch (event.kind) {
    case EventKind::Started:
    case EventKind::Resumed:
      if (life.stage == Stage::Running) return refuse("is running");
      life.stage = Stage::Running;
      break;
    case EventKind::Moved:
    case EventKind::Resized:
    case EventKind::Regrouped:
    case EventKind::Paused:
      if (life.stage != Stage::Running) return refuse("is not running");
      if (event.kind == EventKind::Paused) life.stage = Stage::Waiting;
      break;
    case EventKind::Admitted:
      if (life.admitted) return refuse("was so before");
      life.admitted = true;
      break;
    case EventKind::Submitted:
    case EventKind::Queued:
      break;
    case EventKind::Completed:
    case EventKind::Failed:
    case EventKind::Rejected:
    case EventKind::Cancelled:
      life.stage = Stage::Ended;
      break;
    case EventKind::NodeWarned:
    case EventKind::NodeLost:
    case EventKind::NodeBack:
      break;
  }
  return {};
}

Status EventLogReader::follow_node(const Event& event) {
  if (nodes_lost_.size() <= index(event.node)) nodes_lost_.resize(index(event.node) + 1);
  const bool lost = nodes_lost_[index(event.node)];
  if (lost == (event.kind == EventKind::NodeBack)) {
    nodes_lost_[index(event.node)] = event.kind == EventKind::NodeLost;
    return {};
  }
  return invalid(fmt::format("node {} has {} although it is {}", index(event.node),
                             to_string(event.kind), lost ? "lost" : "there"));
}

bool is_event_log(const std::string& path) {
  auto lines = LogLines::open(path);
  std::string first;
  if (!lines.ok()) return false;
  const auto got = lines.value()->next(first);
  if (!got.ok() || !got.value()) return false;
  const json header = json::parse(first, nullptr, false);
  return header.is_object() && header.contains("orrery_events");
}

}  // namespace orrery
