#include <fmt/format.h>

#include <algorithm>

#include "commands/live_commands.h"
#include "commands/whatif.h"
#include "experiments/runs/output.h"
#include "experiments/runs/run_texts.h"
#include "experiments/runs/warnings.h"
#include "report/terminal/words.h"
#include "workload/clusters/cluster_spec.h"
#include "workload/generators/generate.h"

namespace orrery {
namespace {

Result<RunRequest> world_of(const WhatifArguments& arguments) {
  const std::string policies[] = {arguments.policy};
  TRY_ASSIGN(std::vector<NamedPolicy> choices, parse_policies(policies, arguments.options));
  TRY_ASSIGN(const SemanticsKind semantics, parse_semantics(arguments.semantics));
  TRY_ASSIGN(Cluster cluster, read_cluster(arguments.cluster));
  TRY_ASSIGN(Workload workload, load_workload(arguments.trace, {.format = arguments.trace_format,
                                                                .limit = arguments.limit,
                                                                .profiles = arguments.profiles,
                                                                .gpu_type = arguments.gpu_type}));
  if (!arguments.quiet) print_oddities(arguments.trace, workload);
  RunRequest world{.workload = std::make_shared<const Workload>(std::move(workload)),
                   .cluster = std::make_shared<const Cluster>(std::move(cluster)),
                   .run = {.policy = std::move(choices[0].policy), .semantics = semantics},
                   .label = std::move(choices[0].label)};
  world.run.policy.seed = arguments.seed;
  TRY_ASSIGN(world.run.policy.round, parse_round(arguments.round));
  TRY(check_setup(world));
  return world;
}

Result<Workload> job_of(const WhatifArguments& arguments, const Workload& trace) {
  if (arguments.job.empty() == arguments.job_file.empty()) {
    return invalid(
        "say what the job is, by --job model=bert,batch=128,... or by --job-file, not by both");
  }
  if (!arguments.job.empty()) {
    return parse_job(
        {.text = arguments.job, .profiles = arguments.profiles, .gpu_type = arguments.gpu_type},
        trace);
  }
  TRY_ASSIGN(Workload job, read_trace(arguments.job_file, {.format = arguments.trace_format,
                                                           .profiles = arguments.profiles,
                                                           .gpu_type = arguments.gpu_type}));
  if (job.jobs.size() == 1) return job;
  return invalid(
      fmt::format("{}: has {} jobs; one is asked about", arguments.job_file, job.jobs.size()));
}

// About the policy on the trace, and about the job alone if it asks for what the policy ignores.
std::vector<std::string> warnings_about(const RunRequest& world, const Workload& job) {
  std::vector<std::string> warnings = data_warnings(*world.workload, world.run.policy.name);
  for (std::string& own : data_warnings(job, world.run.policy.name)) {
    own.insert(0, "the new job: ");
    warnings.push_back(std::move(own));
  }
  return warnings;
}

}  // namespace

Status whatif_command(const WhatifArguments& arguments) {
  TRY_ASSIGN(const RunRequest world, world_of(arguments));
  TRY_ASSIGN(const Workload job, job_of(arguments, *world.workload));
  const std::string& name = job.jobs[0].name;
  if (std::ranges::find(world.workload->jobs, name, &JobSpec::name) != world.workload->jobs.end()) {
    return invalid(
        fmt::format("the trace has a job '{}' already; give the new one another name", name));
  }
  const std::vector<std::string> warnings = warnings_about(world, job);
  if (!arguments.quiet) {
    for (const std::string& warning : warnings) complain("warning: " + warning);
  }
  TRY_ASSIGN(const AddedJobEffect answer,
             ask(world, job, {.threads = arguments.threads, .progress = !arguments.quiet}));
  return print_text(arguments.json ? whatif_json(answer, world, warnings) + '\n'
                                   : whatif_text(answer, world));
}

}  // namespace orrery
