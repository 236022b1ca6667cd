#include "commands/live_commands.h"

#include <fmt/format.h>

#include <fstream>

namespace orrery {
namespace {

bool names_scheduler(const LiveArguments& live) {
  return !live.state.empty() || !live.server.empty() || !live.context.empty();
}

// True if a running scheduler is meant: where no trace is named. The command looks for it.
Result<bool> is_live(bool has_trace, const LiveArguments& live) {
  if (has_trace && names_scheduler(live)) {
    return invalid(
        "--trace and --state, --server or --context: which of them? Leave out the others");
  }
  return !has_trace;
}

// A scheduler that was not found may not have been meant.
Status or_trace(Status asked, const LiveArguments& live) {
  if (asked.ok() || names_scheduler(live) || asked.error().code != Code::InvalidArgument) {
    return asked;
  }
  Error error = std::move(asked).error();
  error.message += "; or --trace F for a trace";
  return error;
}

Status need(const std::string& value, const char* option) {
  if (!value.empty()) return {};
  return invalid(fmt::format("{} is required with --trace", option));
}

Error cannot_ask() {
  return Error{Code::Unimplemented, "this program cannot ask a running scheduler"};
}

bool is_live_log(const std::string& path) {
  constexpr std::string_view kBeginning = "{\"orrery_live_log\"";
  std::ifstream file(path, std::ios::binary);
  std::string beginning(kBeginning.size(), ' ');
  file.read(beginning.data(), static_cast<std::streamsize>(beginning.size()));
  return beginning == kBeginning;
}

}  // namespace

Status whatif_or_live(const WhatifArguments& arguments, const LiveCommands& live) {
  TRY_ASSIGN(const bool asks, is_live(!arguments.trace.empty(), arguments.live));
  if (asks && !arguments.cluster.empty()) {
    return invalid("--cluster: a running scheduler has its own; name --trace or leave it out");
  }
  if (asks) return or_trace(live.whatif ? live.whatif(arguments) : cannot_ask(), arguments.live);
  TRY(need(arguments.cluster, "--cluster"));
  TRY(need(arguments.policy, "--policy"));
  if (arguments.nodes_more != 0) {
    return invalid("--nodes: with --trace, name a larger --cluster instead");
  }
  return whatif_command(arguments);
}

Status record_or_live(const RecordArguments& arguments, const LiveCommands& live) {
  TRY_ASSIGN(const bool asks, is_live(!arguments.run.traces.empty(), arguments.live));
  if (asks && !(arguments.run.clusters.empty() && arguments.run.policies.empty())) {
    return invalid(
        "--cluster and --policy: a running scheduler has its own; name --trace or leave them out");
  }
  if (asks) return or_trace(live.record ? live.record(arguments) : cannot_ask(), arguments.live);
  TRY(need(arguments.run.clusters.empty() ? "" : "there", "--cluster"));
  TRY(need(arguments.run.policies.empty() ? "" : "there", "--policy"));
  return record_command(arguments);
}

Status replay_or_live(const ReplayArguments& arguments, const LiveCommands& live) {
  if (!is_live_log(arguments.input)) return replay_command(arguments);
  if (live.replay) return live.replay(arguments);
  return Error{
      Code::Unimplemented,
      fmt::format("{}: is the log of a running scheduler, which this program cannot replay",
                  arguments.input)};
}

}  // namespace orrery
