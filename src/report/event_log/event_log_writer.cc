#include "report/event_log/event_log_writer.h"

#include "base/invariant.h"
#include "base/json_text.h"
#include "report/event_log/event_names.h"

namespace orrery {
namespace {

constexpr std::size_t kFlushAt = std::size_t{256} << 10;

std::int64_t nanoseconds(Time time) { return time.time_since_epoch().count(); }

// Fields at their default are left out, which halves the log; docs/formats/events.md lists them.
template <class T>
void append_unless(fmt::memory_buffer& out, std::string_view key, T value, T usual) {
  if (value == usual) return;
  append(out, key);
  if constexpr (std::is_same_v<T, int>) {
    append_number(out, std::int64_t{value});
  } else {
    append_number(out, value);
  }
}

void append_hex(fmt::memory_buffer& out, std::uint64_t value) {
  static constexpr char kDigits[] = "0123456789abcdef";
  int digits = 1;
  while (digits < 16 && (value >> (4 * digits)) != 0) ++digits;
  while (digits-- > 0) out.push_back(kDigits[(value >> (4 * digits)) & 0xF]);
}

// True at the first call with this value.
bool is_first(std::vector<bool>& met, std::size_t id) {
  if (id >= met.size()) met.resize(id + 1);
  if (met[id]) return false;
  met[id] = true;
  return true;
}

bool has_grant(EventKind kind) {
  return kind >= EventKind::Started && kind <= EventKind::Regrouped;
}

}  // namespace

Result<std::unique_ptr<EventLogWriter>> EventLogWriter::open(const std::string& path,
                                                             const Cluster& cluster,
                                                             const Workload& workload,
                                                             const RunDescription& run) {
  TRY_ASSIGN(auto bytes, ByteWriter::open(path));
  return std::make_unique<EventLogWriter>(std::move(bytes), cluster, workload, run);
}

EventLogWriter::EventLogWriter(std::unique_ptr<ByteWriter> bytes, const Cluster& cluster,
                               const Workload& workload, const RunDescription& run)
    : bytes_(std::move(bytes)), workload_(workload) {
  buffer_.reserve(kFlushAt + kFlushAt / 4);
  append_header(cluster, run);
}

void EventLogWriter::append_header(const Cluster& cluster, const RunDescription& run) {
  append(buffer_, "{\"orrery_events\":1,\"trace\":");
  append_string(buffer_, workload_.name);
  if (!run.policy.name.empty()) append_run(buffer_, run);
  append(buffer_, ",\"cluster\":{\"name\":");
  append_string(buffer_, cluster.name);
  append(buffer_, ",\"nodes\":[");
  std::string_view before = "{\"name\":";
  for (const Node& node : cluster.nodes) {
    append(buffer_, before);
    before = ",{\"name\":";
    append_string(buffer_, node.name);
    append(buffer_, ",\"gpus\":");
    append_number(buffer_, std::int64_t{node.gpus});
    append_unless(buffer_, ",\"cpu_milli\":", node.cpu_milli, std::int64_t{0});
    append_unless(buffer_, ",\"memory\":", node.memory_bytes, std::int64_t{0});
    append_unless(buffer_, ",\"gpu_memory\":", node.gpu_memory_bytes, std::int64_t{0});
    if (!node.gpu_type.empty()) {
      append(buffer_, ",\"gpu_type\":");
      append_string(buffer_, node.gpu_type);
    }
    append_unless(buffer_, ",\"switch\":", node.switch_index, 0);
    buffer_.push_back('}');
  }
  append(buffer_, "]}}\n");
}

void EventLogWriter::write(const Event& event) {
  append(buffer_, "{\"t\":");
  append_number(buffer_, nanoseconds(event.time));
  append(buffer_, ",\"seq\":");
  append_number(buffer_, event.sequence);
  append(buffer_, ",\"event\":\"");
  append(buffer_, to_string(event.kind));
  const bool about_node = is_about_node(event.kind);
  append(buffer_, about_node ? "\",\"node\":" : "\",\"job\":");
  append_number(buffer_, about_node ? std::int64_t{static_cast<std::int32_t>(event.node)}
                                    : std::int64_t{static_cast<std::int32_t>(event.job)});
  if (event.kind == EventKind::Submitted) {
    INVARIANT(event.spec != nullptr, "a submission carries the job's spec");
    append_spec(*event.spec);
  }
  if (has_grant(event.kind)) append_grant(event);
  append_unless(buffer_, ",\"left\":", event.work_left, 0.0);
  append_unless(buffer_, ",\"lost\":", event.work_lost, 0.0);
  if (event.kind == EventKind::Admitted) {
    append(buffer_, ",\"promised\":");
    append_number(buffer_, nanoseconds(event.promised));
  }
  if (event.kind == EventKind::Completed) {
    append_unless(buffer_, ",\"finished\":", nanoseconds(event.finished), nanoseconds(event.time));
  }
  if (event.reason.code != Reason::Code::None) append_reason(event.reason);
  append(buffer_, "}\n");
  if (buffer_.size() >= kFlushAt) flush();
}

void EventLogWriter::append_spec(const JobSpec& spec) {
  append(buffer_, ",\"spec\":{\"name\":");
  append_string(buffer_, spec.name);
  append(buffer_, ",\"submitted\":");
  append_number(buffer_, nanoseconds(spec.submitted));
  append(buffer_, ",\"gpus\":");
  append_number(buffer_, std::int64_t{spec.gpus});
  append(buffer_, ",\"iterations\":");
  append_number(buffer_, spec.iterations);
  append(buffer_, ",\"iteration_s\":");
  append_number(buffer_, spec.iteration_s);
  append_unless(buffer_, ",\"cpu_milli\":", spec.cpu_milli, std::int64_t{0});
  append_unless(buffer_, ",\"memory\":", spec.memory_bytes, std::int64_t{0});
  append_unless(buffer_, ",\"gpu_memory\":", spec.gpu_memory_bytes, std::int64_t{0});
  append_unless(buffer_, ",\"start_cost\":", std::int64_t{spec.start_cost.count()},
                std::int64_t{0});
  append_unless(buffer_, ",\"checkpoint_cost\":", std::int64_t{spec.checkpoint_cost.count()},
                std::int64_t{0});
  append_name(",\"model\":", spec.model);
  append_name(",\"user\":", spec.user);
  append_name(",\"gpu_type\":", spec.gpu_type);
  append_unless(buffer_, ",\"batch_size\":", spec.batch_size, 0);
  append_unless(buffer_, ",\"priority\":", spec.priority, 0);
  append_unless(buffer_, ",\"lasting\":", spec.lasting ? 1 : 0, 0);
  if (spec.deadline) {
    append(buffer_, ",\"deadline\":");
    append_number(buffer_, nanoseconds(*spec.deadline));
  }
  if (spec.deadline_kind != DeadlineKind::Hard) {
    append(buffer_, ",\"deadline_kind\":\"");
    append(buffer_, spelled(kDeadlineNames, spec.deadline_kind));
    buffer_.push_back('"');
  }
  append_unless(buffer_, ",\"deadline_value\":", spec.deadline_value, 1.0);
  if (spec.profile != kNoProfile) append_profile(spec.profile);
  if (spec.curve != kNoCurve) append_curve(spec.curve);
  if (spec.sensitivity != kNoSensitivity) append_sensitivity(spec.sensitivity);
  buffer_.push_back('}');
}

// A profile is spelled out with the first job that has it, so that a log may be written while
// profiles are still being added.
void EventLogWriter::append_profile(ProfileId profile) {
  append(buffer_, ",\"profile\":");
  append_number(buffer_, std::int64_t{static_cast<std::int32_t>(profile)});
  if (!is_first(profiles_written_, index(profile))) return;
  INVARIANT(index(profile) < workload_.profiles.size(), "a spec's profile is in the workload");
  const StageProfile& stages = workload_.profiles[index(profile)];
  append(buffer_, ",\"stages\":{\"stage_s\":[");
  for (std::size_t i = 0; i < stages.stage_s.size(); ++i) {
    if (i > 0) buffer_.push_back(',');
    append_number(buffer_, stages.stage_s[i]);
  }
  append(buffer_, "],\"slots\":[");
  for (std::size_t i = 0; i < stages.slots.size(); ++i) {
    if (i > 0) buffer_.push_back(',');
    append_number(buffer_, std::int64_t{stages.slots[i]});
  }
  append(buffer_, "]}");
}

// Likewise.
void EventLogWriter::append_curve(CurveId curve) {
  append(buffer_, ",\"curve\":");
  append_number(buffer_, std::int64_t{static_cast<std::int32_t>(curve)});
  if (!is_first(curves_written_, index(curve))) return;
  INVARIANT(index(curve) < workload_.curves.size(), "a spec's curve is in the workload");
  const SpeedCurve& speeds = workload_.curves[index(curve)];
  append(buffer_, ",\"speeds\":{\"points\":[");
  for (std::size_t i = 0; i < speeds.points.size(); ++i) {
    append(buffer_, i > 0 ? ",[" : "[");
    append_number(buffer_, std::int64_t{speeds.points[i].gpus});
    buffer_.push_back(',');
    append_number(buffer_, speeds.points[i].iterations_per_s);
    buffer_.push_back(']');
  }
  buffer_.push_back(']');
  for (std::size_t i = 0; i < speeds.spreads.size(); ++i) {
    append(buffer_, i > 0 ? ",[" : ",\"spreads\":[[");
    append_number(buffer_, std::int64_t{speeds.spreads[i].gpus});
    buffer_.push_back(',');
    append_number(buffer_, std::int64_t{speeds.spreads[i].nodes});
    buffer_.push_back(',');
    append_number(buffer_, speeds.spreads[i].iterations_per_s);
    append(buffer_, i + 1 < speeds.spreads.size() ? "]" : "]]");
  }
  append_unless(buffer_, ",\"widest\":", speeds.widest, 0);
  buffer_.push_back('}');
}

// Likewise.
void EventLogWriter::append_sensitivity(SensitivityId sensitivity) {
  append(buffer_, ",\"sensitivity\":");
  append_number(buffer_, std::int64_t{static_cast<std::int32_t>(sensitivity)});
  if (!is_first(sensitivities_written_, index(sensitivity))) return;
  INVARIANT(index(sensitivity) < workload_.sensitivities.size(),
            "a spec's sensitivity is in the workload");
  append(buffer_, ",\"host_speeds\":");
  orrery::append_sensitivity(buffer_, workload_.sensitivities[index(sensitivity)]);
}

void EventLogWriter::append_name(std::string_view key, NameId name) {
  if (name == kNoName) return;
  append(buffer_, key);
  append_string(buffer_, workload_.name_of(name));
}

void EventLogWriter::append_grant(const Event& event) {
  INVARIANT(event.grant != nullptr, "an event that starts or changes a grant carries it");
  const Grant& grant = *event.grant;
  append(buffer_, ",\"grant\":{\"gpus\":[");
  for (std::size_t i = 0; i < grant.devices.size(); ++i) {
    append(buffer_, i > 0 ? ",[" : "[");
    append_number(buffer_, std::int64_t{static_cast<std::int32_t>(grant.devices[i].node)});
    append(buffer_, ",\"");
    append_hex(buffer_, grant.devices[i].gpus);
    append(buffer_, "\"]");
  }
  buffer_.push_back(']');
  append_unless(buffer_, ",\"cpu_milli\":", grant.cpu_milli, std::int64_t{0});
  append_unless(buffer_, ",\"memory\":", grant.memory_bytes, std::int64_t{0});
  if (grant.sharing != Sharing::Exclusive) {
    append(buffer_, ",\"sharing\":\"");
    append(buffer_, spelled(kSharingNames, grant.sharing));
    buffer_.push_back('"');
  }
  append_unless(buffer_, ",\"group\":", static_cast<int>(grant.group), static_cast<int>(kNoGroup));
  append_unless(buffer_, ",\"position\":", grant.position, 0);
  append_unless(buffer_, ",\"rate\":", grant.iterations_per_s, 0.0);
  append(buffer_, "},\"ready\":");
  append_number(buffer_, nanoseconds(event.ready));
}

void EventLogWriter::append_reason(const Reason& reason) {
  append(buffer_, ",\"reason\":{\"code\":\"");
  append(buffer_, spelled(kReasonNames, reason.code));
  buffer_.push_back('"');
  append_unless(buffer_, ",\"other\":", static_cast<int>(reason.other), static_cast<int>(kNoJob));
  append_unless(buffer_, ",\"wanted\":", reason.wanted, std::int64_t{0});
  append_unless(buffer_, ",\"available\":", reason.available, std::int64_t{0});
  append_unless(buffer_, ",\"from\":", nanoseconds(reason.from), std::int64_t{0});
  append_unless(buffer_, ",\"until\":", nanoseconds(reason.until), std::int64_t{0});
  append_unless(buffer_, ",\"earliest\":", nanoseconds(reason.earliest), std::int64_t{0});
  buffer_.push_back('}');
}

void EventLogWriter::flush() {
  if (status_.ok()) status_ = bytes_->write({buffer_.data(), buffer_.size()});
  buffer_.clear();
}

Status EventLogWriter::finish() {
  flush();
  TRY(status_);
  return bytes_->finish();
}

}  // namespace orrery
