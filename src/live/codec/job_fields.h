#pragma once

#include "live/api/api_jobs.h"
#include "live/codec/fields.h"

// What the calls about jobs and their answers are made of.

namespace orrery {

inline constexpr Range kPiece{1, 1 << 20};  // bytes of a log, or lines of events, in one message

void fields(auto& io, Like<JobRequest> auto& v) {
  io("argv", v.argv, kWords);
  io("environment", v.environment, kWords);
  io("directory", v.directory);
  io("name", v.name);
  io("user", v.user);
  io("tenant", v.tenant);
  io("gpus", v.gpus);
  io("gpus_min", v.gpus_min);
  io("gpus_max", v.gpus_max);
  io("cpu_milli", v.cpu_milli);
  io("memory_bytes", v.memory_bytes);
  io("gpu_type", v.gpu_type);
  io("model", v.model);
  io("expected_ns", v.expected);
  io("start_cost_ns", v.start_cost);
  io("deadline_ns", v.deadline);
  io("deadline_is_soft", v.deadline_is_soft);
  io("priority", v.priority);
  io("after", v.after);
  io("retries", v.retries);
  io("process_per_gpu", v.process_per_gpu);
  io("grace_ns", v.grace);
  io("output", v.output);
  io("checkpoint_directory", v.checkpoint_directory);
  io("array", v.array, Range{0, kArrayMax});
  io("errors", v.errors);
  io("time_limit_ns", v.time_limit);
  io("signal", v.signal);
  io("signal_before_ns", v.signal_before);
  io("private_tmp", v.private_tmp);
  io("node_timeout_ns", v.node_timeout);
}
void fields(auto& io, Like<SubmitRequest> auto& v) {
  io("job", v.job);
  io("key", v.key);
}
void fields(auto& io, Like<SubmitAnswer> auto& v) {
  io("first", v.first);
  io("count", v.count);
  io("warnings", v.warnings);
}
void fields(auto& io, Like<JobStatus> auto& v) {
  io("id", v.id);
  io("name", v.name);
  io("user", v.user);
  io("tenant", v.tenant);
  io("state", v.state);
  io("reason", v.reason);
  io("end", v.end);
  io("gpus", v.gpus);
  io("cpu_milli", v.cpu_milli);
  io("memory_bytes", v.memory_bytes);
  io("priority", v.priority);
  io("nodes", v.nodes);
  io("command", v.command);
  io("submitted_s", v.submitted_s);
  io("started_s", v.started_s);
  io("ended_s", v.ended_s);
  io("deadline_s", v.deadline_s);
  io("predicted_start_s", v.predicted_start_s);
  io("exit_code", v.exit_code);
  io("signal", v.signal);
  io("progress", v.progress);
  io("epoch", v.epoch);
  io("failures", v.failures);
  io("stopping", v.stopping);
  io("promised_s", v.promised_s);
  io("deadline_missed", v.deadline_missed);
  io("promise_missed", v.promise_missed);
  io("time_limit_s", v.time_limit_s);
  io("ran_s", v.ran_s);
  io("gpu_type", v.gpu_type);
  io("waits_for_devices", v.waits_for_devices);
}
void fields(auto& io, Like<StatusRequest> auto& v) {
  io("ids", v.ids);
  io("finished", v.finished);
  io("user", v.user);
  io("limit", v.limit, kCount);
  io("predict", v.predict);
}
void fields(auto& io, Like<StatusAnswer> auto& v) {
  io("now_s", v.now_s);
  io("policy", v.policy);
  io("jobs", v.jobs);
  io("pending", v.pending);
  io("running", v.running);
  io("settling", v.settling);
}

void fields(auto& io, Like<CancelRequest> auto& v) { io("ids", v.ids); }
void fields(auto& io, Like<CancelAnswer> auto& v) { io("cancelled", v.cancelled); }

}  // namespace orrery
