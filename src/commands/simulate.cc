#include "commands/simulate.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <optional>

#include "commands/commands.h"
#include "commands/input_files.h"
#include "experiments/runs/endless.h"
#include "experiments/runs/output.h"
#include "experiments/runs/policy_choice.h"
#include "experiments/runs/run_names.h"
#include "model/duration_text.h"
#include "workload/clusters/cluster_spec.h"
#include "workload/generators/generate.h"

namespace orrery {
namespace {

Result<std::optional<JobWindow>> parse_window(const std::string& text) {
  if (text.empty()) return std::optional<JobWindow>();
  std::int32_t first = 0;
  std::int32_t end = 0;
  const char* stop = text.data() + text.size();
  const auto a = std::from_chars(text.data(), stop, first);
  if (a.ec == std::errc() && a.ptr != stop && *a.ptr == '-') {
    const auto b = std::from_chars(a.ptr + 1, stop, end);
    if (b.ec == std::errc() && b.ptr == stop && 0 <= first && first < end) {
      return std::optional(JobWindow{static_cast<JobId>(first), static_cast<JobId>(end)});
    }
  }
  return invalid(fmt::format("--window {}: write A-B with A < B, such as 1000-2000", text));
}

// The traces, under names that tell them apart.
Result<std::vector<Workload>> read_traces(const SimulateArguments& arguments, std::int64_t drawn,
                                          const std::optional<JobWindow>& window) {
  std::vector<Workload> workloads;
  std::vector<std::string> names;
  for (const std::string& trace : arguments.traces) {
    TRY_ASSIGN(Workload workload, load_workload(trace, {.format = arguments.trace_format,
                                                        .limit = arguments.limit,
                                                        .profiles = arguments.profiles,
                                                        .gpu_type = arguments.gpu_type,
                                                        .drawn = drawn}));
    if (!arguments.quiet) tell_oddities(trace, workload);
    if (window && index(window->end) > workload.jobs.size()) {
      return invalid(fmt::format("--window {}: {} has only {} jobs", arguments.window, trace,
                                 workload.jobs.size()));
    }
    names.push_back(workload.name);
    workloads.push_back(std::move(workload));
  }
  names = distinct_trace_names(arguments.traces, names);
  for (std::size_t i = 0; i < names.size(); ++i) workloads[i].name = names[i];
  return workloads;
}

// Each run gets an event log of its own, and no output is an input.
Status set_event_logs(const SimulateArguments& arguments, std::vector<RunRequest>& requests) {
  std::vector<std::string> names;
  for (const RunRequest& request : requests) {
    std::string name = fmt::format("{}-{}", request.workload->name, request.label);
    if (const auto seed = name.rfind(" #"); seed != std::string::npos)
      name.replace(seed, 2, "-seed");
    names.push_back(std::move(name));
  }
  TRY_ASSIGN(const std::vector<std::string> paths, event_log_paths(arguments.events, names));
  std::vector<NamedFile> outputs = {{"--report", arguments.report}};
  for (std::size_t i = 0; i < requests.size(); ++i) {
    requests[i].events = paths[i];
    outputs.push_back({"--events", paths[i]});
  }
  return check_outputs(outputs, inputs_of(arguments));
}

}  // namespace

Result<std::vector<RunRequest>> simulate_requests(const SimulateArguments& arguments,
                                                  std::int64_t drawn) {
  TRY_ASSIGN(const std::vector<PolicyChoice> choices,
             parse_policies(arguments.policies, arguments.options));
  TRY_ASSIGN(const SemanticsKind semantics, parse_semantics(arguments.semantics));
  TRY_ASSIGN(const auto window, parse_window(arguments.window));
  TRY_ASSIGN(Cluster cluster, read_cluster(arguments.cluster));
  Duration round{};
  if (!arguments.round.empty()) {
    auto parsed = parse_duration(arguments.round);
    if (!parsed.ok()) return std::move(parsed).error().at("--round");
    round = parsed.value();
  }
  const auto shared_cluster = std::make_shared<const Cluster>(std::move(cluster));
  TRY_ASSIGN(std::vector<Workload> workloads, read_traces(arguments, drawn, window));
  std::vector<RunRequest> requests;
  for (std::size_t i = 0; i < workloads.size(); ++i) {
    const auto workload = std::make_shared<const Workload>(std::move(workloads[i]));
    for (const PolicyChoice& choice : choices) {
      for (const std::uint64_t seed : arguments.seeds) {
        const bool several = arguments.seeds.size() > 1;
        requests.push_back(
            {.workload = workload,
             .cluster = shared_cluster,
             .policy = choice.name,
             .label = several ? fmt::format("{} #{}", choice.label, seed) : choice.label,
             .options = choice.options,
             .semantics = semantics,
             .seed = seed,
             .round = round,
             .speed_error = arguments.speed_error,
             .window = window,
             .series = !arguments.report.empty(),
             .goes_on = drawn > 0 && goes_on(arguments.traces[i])});
      }
    }
  }
  // A policy or option that does not exist is told before anything long begins.
  for (const RunRequest& request : requests) TRY(check_setup(request));
  TRY(set_event_logs(arguments, requests));
  return requests;
}

Status simulate_command(const SimulateArguments& arguments) {
  if (arguments.json && arguments.csv) return invalid("--json and --csv exclude each other");
  TRY_ASSIGN(const auto window, parse_window(arguments.window));
  const RunsOptions options{.threads = arguments.threads, .progress = !arguments.quiet};
  const auto plan = [&](std::int64_t drawn) { return simulate_requests(arguments, drawn); };
  // Whoever sets a limit has said how many jobs there are.
  const bool endless =
      window && arguments.limit == 0 && std::ranges::any_of(arguments.traces, goes_on);
  TRY_ASSIGN(const RunsResult result,
             make_endless_runs(plan, endless ? endless_for(*window) : EndlessOptions(), options));
  const Format format = arguments.json ? Format::Json : arguments.csv ? Format::Csv : Format::Table;
  if (!arguments.quiet) tell_warnings(result.runs);
  TRY(print_runs(result.runs, format, arguments.ratios || result.runs.size() > 1));
  if (!arguments.report.empty()) TRY(write_output(arguments.report, html_report(result.runs)));
  if (result.interrupted)
    return Error{Code::Cancelled, "interrupted: this is what is known so far"};
  return {};
}

}  // namespace orrery
