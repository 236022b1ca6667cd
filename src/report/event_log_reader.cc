#include <fmt/format.h>

#include <charconv>
#include <limits>
#include <nlohmann/json.hpp>

#include "report/event_log.h"
#include "report/event_names.h"

namespace orrery {
namespace {

using nlohmann::json;

// Ids are dense, so a table of jobs or profiles is as long as the largest id. An id this far beyond
// those met so far is damage, and would only fill the memory.
constexpr std::int64_t kIdGapMax = 1 << 16;

template <class Int>
constexpr std::int64_t kMax = std::numeric_limits<Int>::max();

enum class Need { Required, Optional };

std::optional<EventKind> kind_named(std::string_view text) {
  for (int i = 0; i <= static_cast<int>(EventKind::Cancelled); ++i) {
    if (to_string(static_cast<EventKind>(i)) == text) return static_cast<EventKind>(i);
  }
  return std::nullopt;
}

Error missing(const char* key) { return invalid(fmt::format("\"{}\" is missing", key)); }

}  // namespace

// One JSON object of a line, read field by field. An optional field that is absent leaves the value
// as it is.
class EventLogReader::Line {
 public:
  explicit Line(const json& object) : object_(object) {}

  const json* find(const char* key) const {
    const auto found = object_.find(key);
    return found == object_.end() ? nullptr : &*found;
  }

  template <class Int>
  Status integer(const char* key, Int& out, Need need, std::int64_t low = 0,
                 std::int64_t high = kMax<std::int64_t>) const {
    const json* value = find(key);
    if (value == nullptr) return need == Need::Required ? Status(missing(key)) : Status();
    TRY_ASSIGN(const std::int64_t number, whole(*value, key, low, high));
    out = static_cast<Int>(number);
    return {};
  }

  static Result<std::int64_t> whole(const json& value, const char* key, std::int64_t low,
                                    std::int64_t high) {
    const bool fits =
        value.is_number_unsigned()
            ? value.get<std::uint64_t>() <= static_cast<std::uint64_t>(kMax<std::int64_t>)
            : value.is_number_integer();
    const std::int64_t number = fits ? value.get<std::int64_t>() : 0;
    if (!fits || number < low || number > high) {
      return invalid(fmt::format("\"{}\" is not a whole number from {} to {}", key, low, high));
    }
    return number;
  }

  Status time(const char* key, Time& out, Need need) const {
    std::int64_t count = out.time_since_epoch().count();
    TRY(integer(key, count, need));
    out = Time(Duration(count));
    return {};
  }

  Status number(const char* key, double& out, Need need) const {
    const json* value = find(key);
    if (value == nullptr) return need == Need::Required ? Status(missing(key)) : Status();
    return real(*value, key, out);
  }

  static Status real(const json& value, const char* key, double& out) {
    constexpr double kInfinity = std::numeric_limits<double>::infinity();
    if (value.is_number()) {
      out = value.get<double>();
    } else if (value == "inf") {
      out = kInfinity;
    } else if (value == "-inf") {
      out = -kInfinity;
    } else if (value == "nan") {
      out = std::numeric_limits<double>::quiet_NaN();
    } else {
      return invalid(fmt::format("\"{}\" is not a number", key));
    }
    return {};
  }

  Status text(const char* key, std::string& out, Need need) const {
    const json* value = find(key);
    if (value == nullptr) return need == Need::Required ? Status(missing(key)) : Status();
    if (!value->is_string()) return invalid(fmt::format("\"{}\" is not a string", key));
    out = value->get_ref<const std::string&>();
    return {};
  }

  Result<const json*> nested(const char* key) const {
    const json* value = find(key);
    if (value == nullptr) return missing(key);
    if (!value->is_object()) return invalid(fmt::format("\"{}\" is not an object", key));
    return value;
  }

  Result<const json*> list(const char* key) const {
    const json* value = find(key);
    if (value == nullptr) return missing(key);
    if (!value->is_array()) return invalid(fmt::format("\"{}\" is not a list", key));
    return value;
  }

 private:
  const json& object_;
};

EventLogReader::EventLogReader(std::unique_ptr<LineReader> lines, std::string name)
    : lines_(std::move(lines)), name_(std::move(name)) {}

Result<EventLogReader> EventLogReader::open(const std::string& path) {
  TRY_ASSIGN(auto lines, LineReader::open(path));
  EventLogReader reader(std::move(lines), path);
  TRY(reader.read_header());
  return reader;
}

Result<EventLogReader> EventLogReader::from(std::istream& stream, const std::string& name) {
  EventLogReader reader(LineReader::from(stream, name), name);
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
    const Line line(header);
    TRY(line.text("trace", workload_.name, Need::Optional));
    TRY_ASSIGN(const json* cluster_json, line.nested("cluster"));
    const Line cluster(*cluster_json);
    TRY(cluster.text("name", cluster_.name, Need::Optional));
    TRY_ASSIGN(const json* nodes, cluster.list("nodes"));
    for (const json& entry : *nodes) {
      if (!entry.is_object()) return invalid("a node is not an object");
      const Line line_of_node(entry);
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
  Status status = read_event(Line(object), event);
  if (status.ok()) status = follow(event);
  if (!status.ok()) return at_line(std::move(status).error());
  return true;
}

Status EventLogReader::read_event(const Line& line, Event& event) {
  std::string kind_text;
  TRY(line.time("t", event.time, Need::Required));
  TRY(line.integer("seq", event.sequence, Need::Required));
  TRY(line.text("event", kind_text, Need::Required));
  const auto kind = kind_named(kind_text);
  if (!kind) return invalid(fmt::format("unknown event \"{}\"", kind_text));
  event.kind = *kind;
  TRY(line.integer("job", event.job, Need::Required, 0, kMax<std::int32_t>));
  TRY(line.number("left", event.work_left, Need::Optional));
  TRY(read_reason(line, event.reason));
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

Status EventLogReader::read_spec(const Line& line, const Event& event) {
  TRY_ASSIGN(const json* object, line.nested("spec"));
  const Line spec(*object);
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
  TRY(read_name(spec, "model", spec_.model));
  TRY(read_name(spec, "user", spec_.user));
  TRY(read_name(spec, "gpu_type", spec_.gpu_type));
  TRY(spec.integer("batch_size", spec_.batch_size, Need::Optional, 0, kMax<int>));
  TRY(spec.integer("priority", spec_.priority, Need::Optional, -kMax<int>, kMax<int>));
  if (spec.find("deadline") != nullptr) {
    Time deadline{};
    TRY(spec.time("deadline", deadline, Need::Required));
    spec_.deadline = deadline;
  }
  return read_profile(spec);
}

Status EventLogReader::read_profile(const Line& spec) {
  const auto known = static_cast<std::int64_t>(workload_.profiles.size());
  TRY(spec.integer("profile", spec_.profile, Need::Optional, 0, known + kIdGapMax));
  if (spec_.profile == kNoProfile) return {};
  if (spec.find("stages") == nullptr) {
    if (index(spec_.profile) < workload_.profiles.size()) return {};
    return invalid("\"profile\" has not been spelled out by \"stages\" so far");
  }
  TRY_ASSIGN(const json* stages, spec.nested("stages"));
  TRY_ASSIGN(const json* seconds_list, Line(*stages).list("stage_s"));
  TRY_ASSIGN(const json* slots_list, Line(*stages).list("slots"));
  if (seconds_list->size() != slots_list->size()) {
    return invalid("\"stage_s\" and \"slots\" differ in length");
  }
  StageProfile profile;
  for (const json& entry : *seconds_list) {
    TRY(Line::real(entry, "stage_s", profile.stage_s.emplace_back()));
  }
  for (const json& entry : *slots_list) {
    TRY_ASSIGN(const std::int64_t slot, Line::whole(entry, "slots", 0, kMax<int>));
    profile.slots.push_back(static_cast<int>(slot));
  }
  if (index(spec_.profile) >= workload_.profiles.size()) {
    workload_.profiles.resize(index(spec_.profile) + 1);
  }
  workload_.profiles[index(spec_.profile)] = std::move(profile);
  return {};
}

Status EventLogReader::read_name(const Line& spec, const char* key, NameId& id) {
  if (spec.find(key) == nullptr) return {};
  std::string name;
  TRY(spec.text(key, name, Need::Required));
  const auto next_id = static_cast<NameId>(workload_.names.size());
  const auto [entry, is_new] = name_ids_.emplace(std::move(name), next_id);
  if (is_new) workload_.names.push_back(entry->first);
  id = entry->second;
  return {};
}

Status EventLogReader::read_grant(const Line& line, Event& event) {
  TRY_ASSIGN(const json* object, line.nested("grant"));
  const Line grant(*object);
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

Status EventLogReader::read_devices(const Line& grant) {
  TRY_ASSIGN(const json* shares, grant.list("gpus"));
  for (const json& entry : *shares) {
    if (!entry.is_array() || entry.size() != 2 || !entry[1].is_string()) {
      return invalid("an entry of \"gpus\" is not [node, \"hexadecimal mask\"]");
    }
    const auto nodes = static_cast<std::int64_t>(cluster_.nodes.size());
    TRY_ASSIGN(const std::int64_t node, Line::whole(entry[0], "gpus", 0, nodes - 1));
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

Status EventLogReader::read_reason(const Line& line, Reason& reason) const {
  if (line.find("reason") == nullptr) return {};
  TRY_ASSIGN(const json* object, line.nested("reason"));
  const Line fields(*object);
  std::string code_text;
  TRY(fields.text("code", code_text, Need::Required));
  const auto code = named<Reason::Code>(kReasonNames, code_text);
  if (!code) return invalid(fmt::format("unknown reason \"{}\"", code_text));
  constexpr std::int64_t kLow = std::numeric_limits<std::int64_t>::min();
  reason.code = *code;
  TRY(fields.integer("other", reason.other, Need::Optional, 0, kMax<std::int32_t>));
  TRY(fields.integer("wanted", reason.wanted, Need::Optional, kLow));
  return fields.integer("available", reason.available, Need::Optional, kLow);
}

Status EventLogReader::follow(const Event& event) {
  if (last_time_ && event.time < *last_time_) return invalid("time runs backwards");
  last_time_ = event.time;
  const std::size_t job = index(event.job);
  if (event.kind == EventKind::Submitted) {
    if (job > lives_.size() + kIdGapMax) {
      return invalid(fmt::format("job {} is far beyond the {} jobs so far", job, lives_.size()));
    }
    if (job >= lives_.size()) lives_.resize(job + 1, Life::Unknown);
    if (lives_[job] != Life::Unknown) return invalid(fmt::format("job {} comes twice", job));
    lives_[job] = Life::Waiting;
    return {};
  }
  if (job >= lives_.size() || lives_[job] == Life::Unknown) {
    return invalid(fmt::format("job {} was never submitted", job));
  }
  Life& life = lives_[job];
  const auto refuse = [&](std::string_view why) {
    return invalid(fmt::format("job {} is {} although it {}", job, to_string(event.kind), why));
  };
  if (life == Life::Ended) return refuse("has ended");
  switch (event.kind) {
    case EventKind::Started:
    case EventKind::Resumed:
      if (life == Life::Running) return refuse("is running");
      life = Life::Running;
      break;
    case EventKind::Moved:
    case EventKind::Resized:
    case EventKind::Regrouped:
    case EventKind::Paused:
      if (life != Life::Running) return refuse("is not running");
      if (event.kind == EventKind::Paused) life = Life::Waiting;
      break;
    case EventKind::Submitted:
    case EventKind::Admitted:
    case EventKind::Queued:
      break;
    case EventKind::Completed:
    case EventKind::Failed:
    case EventKind::Rejected:
    case EventKind::Cancelled:
      life = Life::Ended;
      break;
  }
  return {};
}

}  // namespace orrery
