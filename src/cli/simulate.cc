#include "cli/simulate.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>

#include "cli/commands.h"
#include "cli/endless.h"
#include "cli/output.h"
#include "cli/policy_choice.h"
#include "model/duration_text.h"
#include "workload/cluster_spec.h"
#include "workload/generate.h"

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

// With several runs each has its own log: runs.jsonl.zst becomes runs-trace3-las.jsonl.zst.
std::string events_path(const SimulateArguments& arguments, const RunRequest& request,
                        bool several) {
  if (arguments.events.empty() || !several) return arguments.events;
  const auto slash = arguments.events.rfind('/');
  const auto dot = arguments.events.find('.', slash == std::string::npos ? 0 : slash + 1);
  const auto stem = arguments.events.substr(0, dot);
  const auto ending = dot == std::string::npos ? "" : arguments.events.substr(dot);
  std::string run = fmt::format("{}-{}", request.workload->name, request.label);
  if (arguments.seeds.size() > 1) run += fmt::format("-seed{}", request.seed);
  std::ranges::replace_if(
      run, [](char c) { return c == '/' || c == ' '; }, '_');
  return stem + "-" + run + ending;
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
  std::vector<RunRequest> requests;
  const bool several = arguments.traces.size() * choices.size() * arguments.seeds.size() > 1;
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
    const auto shared_workload = std::make_shared<const Workload>(std::move(workload));
    for (const PolicyChoice& choice : choices) {
      for (const std::uint64_t seed : arguments.seeds) {
        RunRequest request{.workload = shared_workload,
                           .cluster = shared_cluster,
                           .policy = choice.name,
                           .label = choice.label,
                           .options = choice.options,
                           .semantics = semantics,
                           .seed = seed,
                           .round = round,
                           .speed_error = arguments.speed_error,
                           .window = window,
                           .series = !arguments.report.empty(),
                           .goes_on = drawn > 0 && goes_on(trace)};
        if (arguments.seeds.size() > 1) request.label += fmt::format(" #{}", seed);
        request.events = events_path(arguments, request, several);
        requests.push_back(std::move(request));
      }
    }
  }
  // A policy or option that does not exist is told before anything long begins.
  for (const RunRequest& request : requests) TRY(check_setup(request));
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
  TRY(print_runs(result.runs, format, arguments.ratios || result.runs.size() > 1));
  if (!arguments.report.empty()) TRY(write_file(arguments.report, html_report(result.runs)));
  if (result.interrupted)
    return Error{Code::Cancelled, "interrupted: this is what is known so far"};
  return {};
}

}  // namespace orrery
