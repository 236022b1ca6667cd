#include "live/job_runner/job_record.h"

#include <array>

#include "live/job_runner/launch.h"

namespace orrery {
namespace {

constexpr std::array<std::string_view, 4> kLimits = {"none", "cgroup v2", "cgroup v1", "rlimit"};

}  // namespace

std::string_view memory_limit_name(MemoryLimit limit) {
  return kLimits[static_cast<std::size_t>(limit)];
}

Fields running_fields(const JobRunning& running) {
  Fields fields;
  fields.add("supervisor", running.supervisor);
  fields.add("pid", running.pid);
  fields.add("start", running.start);
  fields.add("boot", running.boot);
  fields.add("memory_limit", memory_limit_name(running.memory_limit));
  fields.add("cgroup", running.cgroup);
  fields.add("cgroup_version", running.cgroup_version);
  for (const auto& [controller, path] : running.cgroup_others) {
    fields.add("cgroup_" + controller, path);
  }
  fields.add("enforced", running.enforced);
  return fields;
}

JobRunning read_running(const Fields& fields) {
  JobRunning running{.supervisor = static_cast<pid_t>(fields.number("supervisor")),
                     .pid = static_cast<pid_t>(fields.number("pid")),
                     .start = fields.number("start"),
                     .boot = fields.text("boot"),
                     .cgroup = fields.text("cgroup"),
                     .cgroup_version = static_cast<int>(fields.number("cgroup_version")),
                     .cgroup_others = read_cgroup_others(fields),
                     .enforced = fields.text("enforced")};
  for (std::size_t i = 0; i < kLimits.size(); ++i) {
    if (fields.text("memory_limit") == kLimits[i]) {
      running.memory_limit = static_cast<MemoryLimit>(i);
    }
  }
  return running;
}

Fields end_fields(const JobEnd& end) {
  Fields fields;
  fields.add("kind", end_name(end.kind));
  fields.add("exit_code", end.exit_code);
  fields.add("signal", end.signal);
  fields.add("message", end.message);
  fields.add("ran_ns", end.ran_ns);
  return fields;
}

Result<JobEnd> read_end(const Fields& fields) {
  const auto kind = parse_end(fields.text("kind"));
  if (!kind) return Error{Code::DataLoss, "'" + fields.text("kind") + "' is no way to end"};
  return JobEnd{.kind = *kind,
                .exit_code = static_cast<int>(fields.number("exit_code", -1)),
                .signal = static_cast<int>(fields.number("signal")),
                .message = fields.text("message"),
                .ran_ns = fields.number("ran_ns", -1)};
}

Fields stop_fields(const StopRequest& request) {
  Fields fields;
  fields.add("grace_ns", request.grace.count());
  fields.add("why", end_name(request.why));
  return fields;
}

StopRequest read_stop_request(const Fields& fields, Duration grace) {
  const auto why = parse_end(fields.text("why"));
  return {.grace = Duration(fields.number("grace_ns", grace.count())),
          .why = why == JobEnd::Kind::LeaseLost ? *why : JobEnd::Kind::Stopped};
}

JobEnd stopped_before_it_began(const StopRequest& request) {
  return {.kind = request.why, .message = "stopped before it began", .ran_ns = 0};
}

}  // namespace orrery
