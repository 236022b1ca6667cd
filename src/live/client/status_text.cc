#include "live/client/status_text.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>

#include "base/plain_text.h"
#include "live/client/job_texts.h"
#include "model/duration_text.h"

namespace orrery {
namespace {

using Json = nlohmann::ordered_json;

constexpr std::size_t kAll = 1'000'000;
constexpr auto kSeconds = ColumnKind::Seconds;

// A scheduler of an older release does not state how long a job ran.
double ran_s(const JobStatus& job, double now_s) {
  if (job.ran_s) return *job.ran_s;
  return job.started_s ? job.ended_s.value_or(now_s) - *job.started_s : 0;
}

// The time before the first start, and every time between two runs.
double waited_s(const JobStatus& job, double now_s) {
  return job.ended_s.value_or(now_s) - job.submitted_s - ran_s(job, now_s);
}

std::string how_it_ended(const JobStatus& job) {
  if (!job.reason.empty()) return job.reason;
  if (job.signal) return fmt::format("signal {}", *job.signal);
  if (job.exit_code && (*job.exit_code != 0 || job.end.empty())) {
    return fmt::format("exit code {}", *job.exit_code);
  }
  return job.end == "exited" ? "" : job.end;
}

// What it has missed; empty: nothing.
std::string lateness(const JobStatus& job) {
  const std::string_view verb = is_final(job.state) ? "missed" : "is past";
  if (job.deadline_missed) return fmt::format("{} its deadline", verb);
  if (job.promise_missed) return fmt::format("{} the time promised", verb);
  return "";
}

std::string why(const JobStatus& job, double now_s) {
  std::string text = is_final(job.state) ? how_it_ended(job) : job.reason;
  if (job.stopping) text = text.empty() ? "stopping" : "stopping: " + text;
  if (job.state == JobState::Done && job.exit_code == 0 && job.reason.empty()) text.clear();
  if (const std::string late = lateness(job); !late.empty()) {
    text += (text.empty() ? "" : "; ") + late;
  }
  if (job.predicted_start_s && !is_final(job.state)) {
    text += fmt::format("{}starts in about {}", text.empty() ? "" : "; ",
                        short_duration(std::max(0.0, *job.predicted_start_s - now_s)));
  }
  return text;
}

std::string summary_line(const StatusAnswer& answer) {
  std::string line = fmt::format("{} pending, {} running", answer.pending, answer.running);
  if (answer.settling > 0) line += fmt::format(", {} settling", answer.settling);
  if (!answer.policy.empty()) line += fmt::format("; policy {}", plain_text(answer.policy));
  return line + '\n';
}

template <class Value>
Json or_null(const std::optional<Value>& value) {
  return value ? Json(*value) : Json();
}
Json or_null(const std::string& text) { return text.empty() ? Json() : Json(text); }

Json json_of(const JobStatus& job, double now_s) {
  return {{"id", job.id},
          {"name", job.name},
          {"user", job.user},
          {"state", to_string(job.state)},
          {"reason", or_null(job.reason)},
          {"gpus", job.gpus},
          {"submitted_s", job.submitted_s},
          {"started_s", or_null(job.started_s)},
          {"ended_s", or_null(job.ended_s)},
          {"exit_code", or_null(job.exit_code)},
          {"signal", or_null(job.signal)},
          {"end", or_null(job.end)},
          {"tenant", or_null(job.tenant)},
          {"nodes", job.nodes},
          {"command", job.command},
          {"cpus", static_cast<double>(job.cpu_milli) / 1000},
          {"memory_bytes", job.memory_bytes},
          {"priority", job.priority},
          {"deadline_s", or_null(job.deadline_s)},
          {"predicted_start_s", or_null(job.predicted_start_s)},
          {"progress", or_null(job.progress)},
          {"starts", job.epoch},
          {"failures", job.failures},
          {"stopping", job.stopping},
          {"deadline_missed", job.deadline_missed},
          {"promised_s", or_null(job.promised_s)},
          {"promise_missed", job.promise_missed},
          {"time_limit_s", or_null(job.time_limit_s)},
          {"ran_s", job.started_s ? Json(ran_s(job, now_s)) : or_null(job.ran_s)},
          {"gpu_type", or_null(job.gpu_type)},
          {"waits_for_devices", job.waits_for_devices},
          {"waited_s", std::max(0.0, waited_s(job, now_s))},
          {"why", or_null(why(job, now_s))}};
}

}  // namespace

std::string short_duration(double value_s) {
  const double rounded = std::isfinite(value_s) ? std::max(0.0, std::floor(value_s)) : 0;
  constexpr double kMost_s = 9e9;  // as much as a Duration holds
  return two_unit_text(from_seconds(std::min(rounded, kMost_s)));
}

ListColumn wide(const char* title, const char* field, ColumnKind kind) {
  return {.title = title, .field = field, .kind = kind, .wide = true};
}

Listing job_listing(const StatusAnswer& answer) {
  Listing listing{
      .name = "jobs",
      .columns = {{"id", "id", ColumnKind::Count},
                  {.title = "name", .field = "name", .least = 8},
                  {.title = "user", .field = "user", .least = 6, .drop_rank = 3},
                  {"state", "state"},
                  {.title = "gpus", .field = "gpus", .kind = ColumnKind::Count, .drop_rank = 5},
                  {.title = "waited", .field = "waited_s", .kind = kSeconds, .drop_rank = 1},
                  {.title = "ran", .field = "ran_s", .kind = kSeconds, .drop_rank = 4},
                  {.title = "nodes", .field = "nodes", .least = 10, .drop_rank = 2},
                  {.title = "why", .field = "why", .none = "", .least = 14},
                  wide("tenant", "tenant", ColumnKind::Text),
                  wide("priority", "priority", ColumnKind::Count),
                  wide("cpus", "cpus", ColumnKind::Count),
                  wide("memory", "memory_bytes", ColumnKind::Bytes),
                  wide("submitted", "submitted_s", ColumnKind::Instant),
                  wide("started", "started_s", ColumnKind::Instant),
                  wide("ended", "ended_s", ColumnKind::Instant),
                  wide("progress", "progress", ColumnKind::Share),
                  wide("exit", "exit_code", ColumnKind::Count),
                  wide("command", "command", ColumnKind::Text)},
      .fields = fields_of(json_of({}, 0)),
      .summary = summary_line(answer),
      .now_s = answer.now_s};
  for (const JobStatus& job : answer.jobs) listing.rows.push_back(json_of(job, answer.now_s));
  return listing;
}

std::string status_card(const JobStatus& job, double now_s) {
  std::string out = fmt::format("job {}  {}\n", job.id, fitted(job.name, kAll));
  const auto line = [&out](std::string_view key, const std::string& value) {
    if (!value.empty()) out += fmt::format("  {:<12}{}\n", key, fitted(value, kAll));
  };
  const auto time = [&](std::string_view key, const std::optional<double>& when) {
    if (when) line(key, local_time(*when));
  };
  line("state", fmt::format("{}{}", to_string(job.state), job.stopping ? ", stopping" : ""));
  const std::string reason = is_final(job.state) ? how_it_ended(job) : job.reason;
  line(is_final(job.state) ? "because" : job.state == JobState::Running ? "note" : "why", reason);
  if (job.predicted_start_s && !is_final(job.state)) {
    line("will start",
         fmt::format("{}, in about {} as things are", local_time(*job.predicted_start_s),
                     short_duration(*job.predicted_start_s - now_s)));
  }
  line("user", job.tenant.empty() || job.tenant == job.user
                   ? job.user
                   : fmt::format("{}, of {}", job.user, job.tenant));
  std::string needs = fmt::format("{} GPU{}", job.gpus, job.gpus == 1 ? "" : "s");
  if (job.cpu_milli > 0) needs += fmt::format(", {:g} CPUs", double(job.cpu_milli) / 1000);
  if (job.memory_bytes > 0) needs += ", " + memory_text(job.memory_bytes);
  line("needs", needs);
  if (job.priority != 0) line("priority", fmt::format("{}", job.priority));
  line("nodes", fmt::format("{}", fmt::join(job.nodes, ", ")));
  line("submitted", local_time(job.submitted_s));
  line("waited", short_duration(waited_s(job, now_s)));
  time("started", job.started_s);
  if (job.started_s) line("ran", short_duration(ran_s(job, now_s)));
  time("ended", job.ended_s);
  const auto due = [&](std::string_view key, const std::optional<double>& when, bool missed) {
    if (when) line(key, local_time(*when) + (missed ? ", missed" : ""));
  };
  due("deadline", job.deadline_s, job.deadline_missed);
  due("promised", job.promised_s, job.promise_missed);
  if (job.time_limit_s) line("time limit", short_duration(*job.time_limit_s));
  if (job.progress) line("progress", fmt::format("{:.1f} %", *job.progress * 100));
  if (job.exit_code) line("exit code", fmt::format("{}", *job.exit_code));
  if (job.signal) line("signal", fmt::format("{}", *job.signal));
  if (job.epoch > 1) line("starts", fmt::format("{}", job.epoch));
  if (job.failures > 0) line("failures", fmt::format("{}", job.failures));
  line("command", job.command);
  return out;
}

std::string end_line(const JobStatus& job) {
  std::string line = fmt::format("job {} {}", job.id, to_string(job.state));
  if (job.started_s && job.ended_s) {
    line += " after " + short_duration(ran_s(job, *job.ended_s));
  }
  const std::string reason = job.state == JobState::Done ? "" : how_it_ended(job);
  return reason.empty() ? line : fmt::format("{}: {}", line, fitted(reason, kAll));
}

}  // namespace orrery
