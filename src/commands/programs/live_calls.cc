#include "commands/programs/live_calls.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <span>
#include <sstream>

#include "base/output_file.h"
#include "commands/programs/live_trace.h"
#include "live/client/live_variants.h"
#include "report/listing/listing.h"
#include "workload/trace.h"

namespace orrery {
namespace {

constexpr std::size_t kNamed = 20;

ConnectionArguments connection(const LiveArguments& live) {
  return {.state = live.state,
          .server = live.server,
          .credentials = live.credentials,
          .context = live.context};
}

Status record_trace(const RecordArguments& arguments, RecordFormat format,
                    const CommandContext& context) {
  LiveTrace trace;
  TRY(each_live_event(connection(arguments.live), context,
                      [&](const std::string& line) { return trace.take(line); }));
  std::ostringstream text;
  Workload jobs = trace.jobs();
  if (format == RecordFormat::Synergy) {
    TRY_ASSIGN(jobs, trace.synergy_jobs());
    TRY(write_synergy_trace(jobs, text));
  } else {
    TRY(write_trace(jobs, text,
                    arguments.output.ends_with(".jsonl") ? TraceSyntax::Jsonl : TraceSyntax::Csv));
  }
  TRY(write_output(arguments.output, text.str(), OutputFile::Kind::NamedPrivate));
  std::string said = fmt::format("{}: {} jobs\n", arguments.output, jobs.jobs.size());
  const auto never = trace.never_ran();
  if (!never.empty()) {
    const std::span named(never.begin(), std::min<std::size_t>(never.size(), kNamed));
    said += fmt::format("left out, as they were cancelled before they ran: {} ({}{})\n",
                        never.size(), fmt::join(named, ", "), never.size() > kNamed ? ", ..." : "");
  }
  return print_done(
      arguments.run.json,
      {{"file", arguments.output}, {"jobs", jobs.jobs.size()}, {"left_out", never.size()}}, said,
      context);
}

}  // namespace

Status whatif_live(const WhatifArguments& arguments, const CommandContext& context) {
  return live_whatif({.connection = connection(arguments.live),
                      .job = arguments.job,
                      .job_file = arguments.job_file,
                      .policy = arguments.policy,
                      .nodes_more = arguments.nodes_more,
                      .json = arguments.json},
                     context);
}

Status record_live(const RecordArguments& arguments, const CommandContext& context) {
  TRY_ASSIGN(const RecordFormat format, record_format(arguments));
  if (format != RecordFormat::Events) return record_trace(arguments, format, context);
  return live_record({.connection = connection(arguments.live),
                      .output = arguments.output,
                      .json = arguments.run.json},
                     context);
}

}  // namespace orrery
