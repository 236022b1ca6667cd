#include "commands/simulate.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdio>
#include <map>
#include <memory>
#include <optional>

#include "commands/commands.h"
#include "commands/input_files.h"
#include "experiments/runs/endless.h"
#include "experiments/runs/output.h"
#include "experiments/runs/run_names.h"
#include "experiments/runs/run_texts.h"
#include "workload/clusters/cluster_spec.h"
#include "workload/generators/generate.h"

namespace orrery {
namespace {

// The traces, under different names.
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
    if (!arguments.quiet) print_oddities(trace, workload);
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

// By seed.
using Scenarios = std::map<std::uint64_t, std::shared_ptr<const NodeScenario>>;

Result<Scenarios> read_scenarios(const SimulateArguments& arguments, const Cluster& cluster) {
  Scenarios scenarios;
  for (const std::uint64_t seed : arguments.seeds) {
    TRY_ASSIGN(scenarios[seed], read_scenario(arguments.scenario, cluster, seed));
  }
  const auto& first = scenarios.begin()->second;
  if (!arguments.quiet && first != nullptr && !first->remark.empty()) {
    std::fputs((first->remark + "\n").c_str(), stderr);
  }
  return scenarios;
}

// One for each trace.
Result<std::vector<std::shared_ptr<const Cluster>>> read_clusters(
    const SimulateArguments& arguments) {
  const std::size_t traces = arguments.traces.size();
  if (arguments.clusters.size() != 1 && arguments.clusters.size() != traces) {
    return invalid(
        fmt::format("{} clusters for {} traces: name one --cluster for all traces, or "
                    "one for each in their order",
                    arguments.clusters.size(), traces));
  }
  std::vector<std::shared_ptr<const Cluster>> clusters;
  for (const std::string& cluster : arguments.clusters) {
    TRY_ASSIGN(Cluster read, read_cluster(cluster));
    clusters.push_back(std::make_shared<const Cluster>(std::move(read)));
  }
  clusters.resize(traces, clusters.front());
  return clusters;
}

bool is_placed_by_survival(const ChosenPolicy& policy) {
  const auto placement = policy.options.find("placement");
  return placement != policy.options.end() && placement->second == "survival";
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
  std::vector<NamedFile> outputs = {{"--report", arguments.report},
                                    {"--jobs-csv", arguments.jobs_csv}};
  for (std::size_t i = 0; i < requests.size(); ++i) {
    requests[i].events = paths[i];
    outputs.push_back({"--events", paths[i]});
  }
  return check_outputs(outputs, inputs_of(arguments));
}

}  // namespace

Result<std::vector<RunRequest>> simulate_requests(const SimulateArguments& arguments,
                                                  std::int64_t drawn) {
  TRY_ASSIGN(const std::vector<NamedPolicy> choices,
             parse_policies(arguments.policies, arguments.options));
  TRY_ASSIGN(const SemanticsKind semantics, parse_semantics(arguments.semantics));
  TRY_ASSIGN(const auto window, parse_window(arguments.window));
  TRY_ASSIGN(const auto clusters, read_clusters(arguments));
  TRY_ASSIGN(const Duration round, parse_round(arguments.round));
  TRY_ASSIGN(std::vector<Workload> workloads, read_traces(arguments, drawn, window));
  std::vector<RunRequest> requests;
  Scenarios scenarios;
  for (std::size_t i = 0; i < workloads.size(); ++i) {
    const auto workload = std::make_shared<const Workload>(std::move(workloads[i]));
    if (i == 0 || clusters[i] != clusters[i - 1]) {
      TRY_ASSIGN(scenarios, read_scenarios(arguments, *clusters[i]));
    }
    for (const NamedPolicy& choice : choices) {
      auto jobs = workload;
      if (arguments.scenario.has_nodes() && is_placed_by_survival(choice.policy)) {
        TRY_ASSIGN(jobs, mark_lasting(*workload, arguments.scenario));
      }
      for (const std::uint64_t seed : arguments.seeds) {
        RunRequest request{.workload = jobs,
                           .cluster = clusters[i],
                           .run = {.policy = choice.policy,
                                   .semantics = semantics,
                                   .speed_error = arguments.speed_error,
                                   .window = window},
                           .label = choice.label,
                           .series = !arguments.report.empty(),
                           .jobs = !arguments.jobs_csv.empty(),
                           .goes_on = drawn > 0 && goes_on(arguments.traces[i])};
        request.run.policy.seed = seed;
        set_scenario(request, scenarios.at(seed));
        request.run.policy.round = round;
        if (arguments.seeds.size() > 1) request.label += fmt::format(" #{}", seed);
        requests.push_back(std::move(request));
      }
    }
  }
  // A policy or option that does not exist is reported before a long run begins.
  for (const RunRequest& request : requests) TRY(check_setup(request));
  TRY(set_event_logs(arguments, requests));
  return requests;
}

Status simulate_command(const SimulateArguments& arguments) {
  TRY_ASSIGN(const Format format, format_of(arguments.json, arguments.csv));
  TRY_ASSIGN(const auto window, parse_window(arguments.window));
  const RunsOptions options{.threads = arguments.threads, .progress = !arguments.quiet};
  const auto plan = [&](std::int64_t drawn) { return simulate_requests(arguments, drawn); };
  // A limit is the number of jobs.
  const bool endless =
      window && arguments.limit == 0 && std::ranges::any_of(arguments.traces, goes_on);
  TRY_ASSIGN(const RunsResult result,
             make_endless_runs(plan, endless ? endless_for(*window) : EndlessOptions(), options));
  if (!arguments.jobs_csv.empty()) {
    TRY(write_jobs_csv(arguments.jobs_csv, result.runs, window));
  }
  return show_runs(result, {.format = format,
                            .ratios = result.runs.size() > 1,
                            .quiet = arguments.quiet,
                            .report = arguments.report});
}

}  // namespace orrery
