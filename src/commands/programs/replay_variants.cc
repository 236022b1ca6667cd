#include "commands/programs/replay_variants.h"

#include <fmt/format.h>

#include <fstream>
#include <memory>

#include "commands/input_files.h"
#include "commands/programs/live_trace.h"
#include "experiments/runs/output.h"
#include "experiments/runs/run_texts.h"
#include "experiments/runs/runs.h"
#include "workload/clusters/cluster_spec.h"

namespace orrery {
namespace {

Result<LiveTrace> read_log(const std::string& path) {
  std::ifstream file(path);
  if (!file) return invalid(fmt::format("{}: cannot be read", path));
  LiveTrace trace;
  std::string line;
  std::getline(file, line);  // states the format of the file
  for (std::int64_t number = 2; std::getline(file, line); ++number) {
    if (Status taken = trace.take(line); !taken.ok()) {
      return invalid(fmt::format("{}:{}: {}", path, number, taken.error().message));
    }
  }
  return trace;
}

Result<RunRequest> request_of(const ReplayArguments& arguments) {
  TRY_ASSIGN(const LiveTrace trace, read_log(arguments.input));
  Workload workload = trace.jobs();
  workload.name = arguments.input;
  if (workload.jobs.empty()) {
    return invalid(fmt::format("{}: has no job that could be run again", arguments.input));
  }
  Cluster cluster = trace.cluster();
  if (!arguments.cluster.empty()) {
    TRY_ASSIGN(cluster, read_cluster(arguments.cluster));
  }
  if (cluster.gpus_total() == 0) {
    return invalid(
        fmt::format("{}: has no node with GPUs; name --cluster to run its jobs", arguments.input));
  }
  return RunRequest{.workload = std::make_shared<const Workload>(std::move(workload)),
                    .cluster = std::make_shared<const Cluster>(std::move(cluster))};
}

}  // namespace

Status replay_live_variants(const ReplayArguments& arguments) {
  if (arguments.policies.empty()) {
    return invalid("--cluster: name the policies to run on it by --policy");
  }
  const NamedFile inputs[] = {{"the replay", arguments.input}, {"--cluster", arguments.cluster}};
  TRY(check_report(arguments.report, inputs));
  TRY_ASSIGN(RunRequest base, request_of(arguments));
  base.series = !arguments.report.empty();
  TRY_ASSIGN(const std::vector<NamedPolicy> choices,
             parse_policies(arguments.policies, arguments.options));
  std::vector<RunRequest> requests;
  for (const NamedPolicy& choice : choices) {
    RunRequest& request = requests.emplace_back(base);
    request.run.policy = choice.policy;
    request.label = choice.label;
    TRY(check_setup(request));
  }
  TRY_ASSIGN(const RunsResult result,
             make_runs(requests, {.threads = arguments.threads, .progress = !arguments.quiet}));
  return show_runs(result, {.format = arguments.json ? Format::Json : Format::Table,
                            .ratios = true,
                            .quiet = arguments.quiet,
                            .report = arguments.report});
}

}  // namespace orrery
