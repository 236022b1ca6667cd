#include <fmt/format.h>

#include <array>

#include "live/daemon/log/entry.h"
#include "live/daemon/log/entry_parts.h"
#include "live/daemon/rights/entitlements.h"
#include "report/event_log/event_names.h"

namespace orrery {
namespace {

void write_grant(JsonBody& body, const Decided& decided) {
  if (decided.devices.empty()) return;
  fmt::memory_buffer& out = body.begin("gpus");
  char mark = '[';
  for (const auto& [node, gpus] : decided.devices) {
    out.push_back(mark);
    mark = ',';
    append(out, "[");
    append_string(out, node);
    fmt::format_to(std::back_inserter(out), ",\"{:x}\"]", gpus);
  }
  out.push_back(']');
  body.number("cpu_milli", decided.cpu_milli);
  body.number("memory", decided.memory_bytes);
  if (decided.sharing != Sharing::Exclusive) {
    body.text("sharing", spelled(kSharingNames, decided.sharing));
  }
  body.number("group", decided.group, -1);
  body.number("position", decided.position);
  body.real("rate", decided.iterations_per_s);
  body.number("ready", decided.ready.time_since_epoch().count());
}

struct Write {
  Record& record;

  void done(const char* kind, JsonBody& body, JobNumber job = -1) const {
    record.kind = kind;
    record.job = job < 0 ? kNoJobNumber : job;
    record.body = body.finish();
  }
  void operator()(const EraBegan& entry) const {
    JsonBody body;
    body.number("unix_ns", entry.unix_ns);
    done("era", body);
  }
  void operator()(const LogNamed& entry) const {
    JsonBody body;
    body.text("id", entry.id);
    body.number("first", entry.first);
    body.number("epoch_floor", entry.epoch_floor);
    if (entry.restored) body.json("restored", "true");
    body.text("by", entry.by);
    done("log", body);
  }
  void operator()(const LaunchFound& entry) const {
    JsonBody body;
    body.number("epoch", entry.launch.epoch);
    body.number("rank", entry.launch.rank);
    body.text("node", entry.node);
    done("found", body, entry.launch.job);
  }
  void operator()(const TermBegan& entry) const {
    JsonBody body;
    body.number("term", entry.term);
    write_policy(body, entry.policy);
    body.number("lease", entry.lease.count());
    body.number("node_timeout", entry.node_timeout.count());
    done("term", body);
  }
  void operator()(const PolicyChanged& entry) const {
    JsonBody body;
    write_policy(body, entry.policy);
    body.text("by", entry.by);
    done("policy", body);
  }
  void operator()(const Submitted& entry) const {
    JsonBody body;
    body.json("request", job_request_json(entry.request));
    body.text("key", entry.key);
    done("submitted", body, entry.first);
  }
  void operator()(const CancelAsked& entry) const {
    JsonBody body;
    body.text("by", entry.by);
    done("cancel", body, entry.job);
  }
  void operator()(const NodeJoined& entry) const {
    JsonBody body;
    write_offer(body, entry.offer);
    body.text("instance", entry.instance);
    body.text("machine", entry.machine);
    body.text("boot", entry.boot);
    done("node", body);
  }
  void operator()(const NodeTurned& entry) const {
    JsonBody body;
    body.text("node", entry.node);
    body.text("state", to_string(entry.state));
    if (entry.draining) body.json("draining", "true");
    if (entry.clears) body.json("clears", "true");
    if (entry.gone) body.json("gone", "true");
    if (entry.heard) body.json("heard", "true");
    body.text("by", entry.by);
    done("node-state", body);
  }
  void operator()(const LaunchEnded& entry) const {
    JsonBody body;
    body.number("epoch", entry.launch.epoch);
    body.number("rank", entry.launch.rank);
    write_end(body, entry.end);
    done("ended", body, entry.launch.job);
  }
  void operator()(const Progressed& entry) const {
    JsonBody body;
    body.real("iteration", entry.iteration, -1);
    body.real("iterations", entry.iterations, -1);
    body.real("checkpointed", entry.checkpointed, -1);
    done("progress", body, entry.job);
  }
  void operator()(const QuotaSet& entry) const {
    JsonBody body;
    body.text("tenant", entry.tenant);
    if (entry.gpus) body.number("gpus", *entry.gpus, -1);
    if (!entry.borrows) body.json("borrows", "false");
    body.text("by", entry.by);
    done("quota", body);
  }
  void operator()(const MembersSet& entry) const {
    JsonBody body;
    body.text("tenant", entry.tenant);
    if (entry.members) write_names(body, "members", *entry.members);
    body.text("by", entry.by);
    done("members", body);
  }
  void operator()(const LimitsSet& entry) const {
    JsonBody body;
    body.text("scope", to_string(entry.scope));
    body.text("name", entry.name);
    write_limits(body, entry.limits);
    body.text("by", entry.by);
    done("limits", body);
  }
  void operator()(const TokenKept& entry) const {
    JsonBody body;
    body.text("id", entry.id);
    body.text("line", entry.line);
    done("token", body);
  }
  void operator()(const RoundHeld& /*entry*/) const {
    JsonBody body;
    done("round", body);
  }
  void operator()(const Decided& entry) const {
    JsonBody body;
    write_grant(body, entry);
    body.real("left", entry.work_left);
    write_reason(body, entry.reason, entry.reason_other);
    body.number("promised", entry.promised.time_since_epoch().count());
    body.number("finished", entry.finished.time_since_epoch().count());
    done(std::string(to_string(entry.kind)).c_str(), body, entry.job);
  }
};

constexpr std::array<std::string_view, 4> kNodeStates = {"up", "lost", "left", "removed"};

}  // namespace

std::string_view to_string(NodeState state) { return kNodeStates[static_cast<std::size_t>(state)]; }

Record to_record(const Entry& entry, Time time) {
  Record record{.time = time};
  std::visit(Write{record}, entry);
  return record;
}

}  // namespace orrery
