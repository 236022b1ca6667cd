#include <fmt/format.h>

#include <array>
#include <sstream>

#include "commands/commands.h"
#include "commands/input_files.h"
#include "experiments/runs/output.h"
#include "experiments/runs/runs.h"
#include "workload/clusters/cluster_spec.h"
#include "workload/trace.h"

namespace orrery {

std::string_view embedded_demo_csv();
std::string_view embedded_demo_cluster_toml();

namespace {

constexpr std::array kPolicies = {"fifo", "srtf", "las", "antman", "muri-s", "muri-l"};

}  // namespace

Status demo_command(const DemoArguments& arguments) {
  TRY(check_report(arguments.report, {}));
  std::istringstream text{std::string(embedded_demo_csv())};
  TRY_ASSIGN(Workload workload, parse_trace("demo.csv", text));
  workload.name = "demo";
  TRY_ASSIGN(Cluster cluster, parse_cluster("demo-cluster.toml", embedded_demo_cluster_toml()));
  const auto shared_workload = std::make_shared<const Workload>(std::move(workload));
  const auto shared_cluster = std::make_shared<const Cluster>(std::move(cluster));
  if (!arguments.json) {
    TRY(print_text(fmt::format(
        "{} training jobs on {} machines with {} GPUs, under six policies.\n\n",
        shared_workload->jobs.size(), shared_cluster->nodes.size(), shared_cluster->gpus_total())));
  }
  std::vector<RunRequest> requests;
  requests.reserve(kPolicies.size());
  for (const char* policy : kPolicies) {
    requests.push_back({.workload = shared_workload,
                        .cluster = shared_cluster,
                        .run = {.policy = {.name = policy}},
                        .label = policy,
                        .series = true});
  }
  TRY_ASSIGN(const RunsResult result, make_runs(requests, {.progress = !arguments.quiet}));
  TRY(show_runs(result, {.format = arguments.json ? Format::Json : Format::Table,
                         .ratios = true,
                         .quiet = arguments.quiet,
                         .report = arguments.report}));
  if (arguments.json) return {};
  return print_text(fmt::format(
      "\nThe picture: open {} in a browser.\n\n"
      "What to try next:\n"
      "  orrery policies                        every policy and its options\n"
      "  orrery compare --trace YOURS.csv --cluster 16x8 --policy las,muri-l\n"
      "                                         your own jobs (docs/formats/trace-orrery.md)\n"
      "  orrery compare --trace philly-like:jobs=10000,gpus=128,load=0.9 --cluster 16x8 \\\n"
      "                 --policy fifo,srtf,las  ten thousand generated ones\n"
      "  orrery simulate --help                 event logs, reports, JSON, seeds, threads\n",
      arguments.report));
}

}  // namespace orrery
