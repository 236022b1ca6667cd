#include "experiments/figures/reproduce_muri.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cstdio>
#include <filesystem>
#include <map>
#include <memory>

#include "experiments/runs/output.h"
#include "experiments/runs/runs.h"
#include "workload/clusters/cluster_spec.h"
#include "workload/trace.h"

namespace orrery {
namespace {

// With more runs the page would be too large to be opened.
constexpr std::size_t kTimelinesMax = 12;

// The cluster of every simulation in the paper.
constexpr std::string_view kClusterName = "n8g8";
constexpr std::string_view kCluster =
    "num_switch,num_node_p_switch,num_gpu_p_node,num_cpu_p_node,mem_p_node\n1,8,8,92,520\n";

Result<std::vector<const FigureRow*>> choose_rows(const ReproduceArguments& arguments) {
  std::vector<const FigureRow*> rows;
  for (const FigureRow& row : muri_rows()) {
    if (arguments.figure.empty() || arguments.figure == fmt::to_string(row.figure)) {
      rows.push_back(&row);
    }
  }
  if (rows.empty()) {
    std::vector<int> numbers;
    for (const FigureInfo& info : muri_figures()) numbers.push_back(info.number);
    return invalid(fmt::format("--figure {}: of muri there are {}; leave it out for all",
                               arguments.figure, fmt::join(numbers, ", ")));
  }
  return rows;
}

struct Traces {
  std::map<std::string_view, std::shared_ptr<const Workload>> found;  // by file
  std::vector<std::string> missing;
};

Result<Traces> read_traces(const std::string& folder, std::span<const FigureRow* const> rows) {
  std::error_code ignored;
  if (!std::filesystem::is_directory(folder, ignored)) {
    return invalid(fmt::format(
        "--data {}: there is no such folder; name the one with trace1.csv and the others", folder));
  }
  Traces traces;
  for (const FigureRow* row : rows) {
    const std::string_view file = muri_file(row->trace);
    const std::string name = fmt::format("{}.csv", file);
    if (traces.found.contains(file) ||
        std::ranges::find(traces.missing, name) != traces.missing.end()) {
      continue;
    }
    const auto path = std::filesystem::path(folder) / name;
    if (!std::filesystem::exists(path, ignored)) {
      traces.missing.push_back(name);
      continue;
    }
    TRY_ASSIGN(Workload workload, read_trace(path.string(), {.format = "muri"}));
    traces.found.emplace(file, std::make_shared<const Workload>(std::move(workload)));
  }
  if (traces.found.empty()) {
    return invalid(fmt::format(
        "--data {}: none of {} is there; name the folder that holds the traces published with Muri",
        folder, fmt::join(traces.missing, ", ")));
  }
  return traces;
}

// What one run depends on: rows of several figures may need the same.
using RunKey = std::tuple<std::string_view, std::string_view, std::string_view>;

RunKey key_of(const FigureRow& row) {
  const ShownPolicy& policy = shown_policy(row.shown);
  return {muri_file(row.trace), policy.policy, policy.value};
}

struct PlannedRuns {
  std::vector<RunRequest> requests;
  std::vector<RunKey> keys;
};

Result<PlannedRuns> plan_runs(std::span<const FigureRow* const> rows, const Traces& traces,
                              bool series) {
  TRY_ASSIGN(Cluster parsed, parse_cluster(kClusterName, kCluster));
  const auto cluster = std::make_shared<const Cluster>(std::move(parsed));
  PlannedRuns planned;
  // Muri's runs take longest; begun last, they would keep one thread busy after all the others.
  std::vector<const FigureRow*> order(rows.begin(), rows.end());
  std::stable_partition(order.begin(), order.end(), [](const FigureRow* row) {
    return shown_policy(row->shown).policy.starts_with("muri");
  });
  for (const FigureRow* row : order) {
    const auto trace = traces.found.find(muri_file(row->trace));
    const RunKey key = key_of(*row);
    if (trace == traces.found.end() || std::ranges::find(planned.keys, key) != planned.keys.end()) {
      continue;
    }
    const ShownPolicy& policy = shown_policy(row->shown);
    RunRequest request{
        .workload = trace->second,
        .cluster = cluster,
        .run = {.policy = {.name = std::string(policy.policy)}, .semantics = SemanticsKind::Muri},
        .label = std::string(policy.name),
        .series = series};
    if (!policy.key.empty()) request.run.policy.options.emplace(policy.key, policy.value);
    planned.requests.push_back(std::move(request));
    planned.keys.push_back(key);
  }
  return planned;
}

std::optional<double> value_of(const RunSummary& run, Metric metric) {
  switch (metric) {
    case Metric::AvgJct:
      return run.avg_jct_s;
    case Metric::Makespan:
      return run.makespan_s;
    case Metric::P99Jct:
      return run.p99_jct_s;
  }
  return std::nullopt;
}

std::string note_of(const ReproducedRow& row, const std::string& folder, bool found) {
  std::vector<std::string> notes;
  if (!found) {
    notes.push_back(fmt::format("no {}.csv in {}", muri_file(row.row->trace), folder));
  } else if (!row.ours) {
    notes.emplace_back("not run to its end");
  }
  if (!row.reference) {
    notes.emplace_back("no reference: the difference is to the published value");
  } else if (row.row->source == Source::Prototype) {
    notes.emplace_back("the reference is a prototype's, not a complete run of the released code");
  } else if (row.row->source == Source::Bisection) {
    notes.emplace_back("the reference has the solver replaced by exact bisection");
  }
  return fmt::format("{}", fmt::join(notes, "; "));
}

std::vector<ReproducedRow> reproduced(std::span<const FigureRow* const> rows, const Traces& traces,
                                      const std::map<RunKey, RunSummary>& runs,
                                      const std::string& folder) {
  std::vector<ReproducedRow> all;
  for (const FigureInfo& figure : muri_figures()) {
    for (const Metric metric : kMetrics) {
      const auto i = static_cast<std::size_t>(metric);
      for (const FigureRow* row : rows) {
        if (row->figure != figure.number || row->published[i] == 0) continue;
        ReproducedRow& made = all.emplace_back();
        made.row = row;
        made.metric = metric;
        made.published = row->published[i];
        if (row->reference[i] != 0) made.reference = row->reference[i];
        const auto run = runs.find(key_of(*row));
        if (run != runs.end()) made.ours = value_of(run->second, metric);
        made.note = note_of(made, folder, traces.found.contains(muri_file(row->trace)));
      }
    }
  }
  return all;
}

std::string heading(const ReproduceArguments& arguments, const Traces& traces) {
  std::string text =
      "Muri (SIGCOMM '22): published | reference | ours, simulated on 8 nodes with\n"
      "8 GPUs each under --semantics muri.\n";
  if (arguments.figure.empty() || arguments.figure == "9" || arguments.figure == "10") {
    text +=
        "The published tables do not say which rows are Figure 9 and which Figure 10:\n"
        "here 9 is Muri-S and those it is compared with, 10 the same for Muri-L.\n";
  }
  if (!traces.missing.empty()) {
    text += fmt::format("Nothing of ours where the trace is missing: {}\n  looked for in {}\n",
                        fmt::join(traces.missing, ", "), arguments.data);
  }
  return text + '\n';
}

Status write_report(const std::string& path, std::vector<ReportRun> runs) {
  if (runs.size() > kTimelinesMax) {
    for (ReportRun& run : runs) {
      run.series.rows.clear();
      run.series.jobs.clear();
      run.series.spans.clear();
    }
  }
  return write_output(path, html_report(runs));
}

}  // namespace

Status reproduce_muri(const ReproduceArguments& arguments) {
  if (!arguments.reference.empty() || !arguments.semantics.empty()) {
    return invalid("--reference and --semantics are not for muri; leave them out");
  }
  TRY_ASSIGN(const auto rows, choose_rows(arguments));
  TRY_ASSIGN(const Traces traces, read_traces(arguments.data, rows));
  TRY_ASSIGN(const PlannedRuns planned, plan_runs(rows, traces, !arguments.report.empty()));
  TRY_ASSIGN(const RunsResult result, make_runs(planned.requests, {.threads = arguments.threads,
                                                                   .progress = !arguments.quiet}));
  std::map<RunKey, RunSummary> runs;
  for (std::size_t i = 0; i < planned.keys.size(); ++i) {
    const RunSummary& run = result.runs[i].summary;
    // A run that was cut short has numbers, but they mean nothing here.
    const auto jobs = static_cast<std::int64_t>(planned.requests[i].workload->jobs.size());
    if (run.completed == jobs) runs.emplace(planned.keys[i], run);
  }
  const auto made = reproduced(rows, traces, runs, arguments.data);
  TRY(print_text(arguments.json ? reproduced_json(arguments.system, made) + '\n'
                                : heading(arguments, traces) + reproduced_text(made)));
  if (arguments.json && !traces.missing.empty() && !arguments.quiet) {
    std::fputs(
        fmt::format("orrery: not in {}: {}\n", arguments.data, fmt::join(traces.missing, ", "))
            .c_str(),
        stderr);
  }
  if (!arguments.report.empty()) TRY(write_report(arguments.report, result.runs));
  if (result.interrupted) {
    return Error{Code::Cancelled, "interrupted: runs that had not ended are left out"};
  }
  return {};
}

}  // namespace orrery
