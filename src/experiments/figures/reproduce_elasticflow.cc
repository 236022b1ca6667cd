#include "experiments/figures/reproduce_elasticflow.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cstdio>
#include <filesystem>
#include <memory>

#include "experiments/figures/reference_runs.h"
#include "experiments/runs/output.h"
#include "experiments/runs/runs.h"
#include "scheduling/policy/registry.h"
#include "workload/clusters/cluster_spec.h"
#include "workload/trace.h"

namespace orrery {
namespace elasticflow {
namespace {

namespace fs = std::filesystem;

constexpr std::string_view kFolders =
    "traces/, cluster_specs/, throughputs_A100/ and throughputs_T4/";
// With more runs than this, the page keeps what it draws over time but not which job held which
// GPU.
constexpr std::size_t kTimelinesMax = 24;

struct Inputs {
  using File = std::pair<std::string_view, std::string_view>;  // name and GPU type
  std::map<File, std::shared_ptr<const Workload>> traces;      // null: not there
  std::map<std::string_view, std::shared_ptr<const Cluster>> clusters;
  std::vector<std::string> missing;
  std::string pollux_data;  // what Pollux was measured with, if it lies beside; empty: it does not
};

Result<std::string> file_in(const std::string& folder, std::string_view part,
                            const std::string& name) {
  const fs::path path = fs::path(folder) / part / name;
  std::error_code ignored;
  if (fs::exists(path, ignored)) return path.string();
  return invalid(fmt::format("--data {}: {} is not there; name the folder with {}", folder,
                             (fs::path(part) / name).string(), kFolders));
}

Status read_inputs(const std::string& folder, const Figure& figure, const Setting& setting,
                   Inputs& inputs) {
  const Inputs::File key{setting.trace, figure.gpu_type};
  if (!inputs.traces.contains(key)) {
    auto& slot = inputs.traces[key];
    const std::string name = fmt::format("{}.csv", setting.trace);
    const fs::path path = fs::path(folder) / "traces" / name;
    std::error_code ignored;
    if (!fs::exists(path, ignored)) {
      inputs.missing.push_back(name);
      return {};
    }
    TRY_ASSIGN(const std::string profiles,
               file_in(folder, fmt::format("throughputs_{}", figure.gpu_type), ""));
    TRY_ASSIGN(Workload workload,
               read_trace(path.string(), {.format = "elasticflow",
                                          .profiles = profiles,
                                          .gpu_type = std::string(figure.gpu_type)}));
    slot = std::make_shared<const Workload>(std::move(workload));
  }
  if (inputs.traces[key] == nullptr || inputs.clusters.contains(setting.cluster)) return {};
  TRY_ASSIGN(const std::string path,
             file_in(folder, "cluster_specs", fmt::format("{}.csv", setting.cluster)));
  TRY_ASSIGN(Cluster cluster, read_cluster(path));
  inputs.clusters.emplace(setting.cluster, std::make_shared<const Cluster>(std::move(cluster)));
  return {};
}

Result<Inputs> read_inputs(const std::string& folder, std::span<const Figure* const> chosen) {
  std::error_code ignored;
  if (!fs::is_directory(folder, ignored)) {
    return invalid(
        fmt::format("--data {}: there is no such folder; name the one with {}", folder, kFolders));
  }
  Inputs inputs;
  const fs::path beside = fs::path(folder) / ".." / "pollux";
  if (fs::is_directory(beside, ignored)) inputs.pollux_data = beside.string();
  for (const Figure* figure : chosen) {
    for (const Setting& setting : settings()) {
      if (setting.figure == figure->name) TRY(read_inputs(folder, *figure, setting, inputs));
    }
  }
  const auto there = [](const auto& entry) { return entry.second != nullptr; };
  if (std::ranges::any_of(inputs.traces, there)) return inputs;
  return invalid(fmt::format("--data {}: none of the traces is in traces/ there: {}", folder,
                             fmt::join(inputs.missing, ", ")));
}

std::map<std::string, std::string> options_of(const ShownPolicy& policy) {
  std::map<std::string, std::string> options;
  for (std::string_view rest = policy.options; !rest.empty();) {
    const std::string_view pair = rest.substr(0, rest.find(':'));
    const std::size_t equals = pair.find('=');
    options.emplace(pair.substr(0, equals), pair.substr(equals + 1));
    rest.remove_prefix(std::min(rest.size(), pair.size() + 1));
  }
  return options;
}

bool built(std::string_view policy) {
  return std::ranges::find(policies(), policy, &PolicyInfo::name) != policies().end();
}

struct Planned {
  std::vector<RunRequest> requests;
  std::vector<RunKey> keys;
  std::map<RunKey, std::string> refused;  // why a policy cannot be run on it
};

void plan_run(const Figure& figure, const RunKey& key, const Inputs& inputs, bool series,
              Planned& planned) {
  const auto& [setting, shown, world] = key;
  const ShownPolicy& policy = shown_policy(shown);
  const auto& workload = inputs.traces.at({setting->trace, figure.gpu_type});
  if (workload == nullptr || !built(policy.policy)) return;
  RunRequest request{
      .workload = workload,
      .cluster = inputs.clusters.at(setting->cluster),
      .run = {.policy = {.name = std::string(policy.policy), .options = options_of(policy)},
              .semantics = world},
      .label = std::string(policy.name),
      .series = series};
  if (policy.policy == "pollux" && !inputs.pollux_data.empty()) {
    request.run.policy.options["pollux-data"] = inputs.pollux_data;
  }
  if (world == SemanticsKind::ElasticFlow) {
    request.run.policy.round = std::chrono::seconds(figure.slot_s);
  }
  if (const Status status = check_setup(request); !status.ok()) {
    planned.refused.emplace(key, status.error().message);
    return;
  }
  planned.requests.push_back(std::move(request));
  planned.keys.push_back(key);
}

// Policies that plan over time take longest, the more so the more jobs there are; begun last, they
// would keep one thread busy after all the others.
void longest_first(Planned& planned) {
  std::vector<std::size_t> order(planned.requests.size());
  for (std::size_t i = 0; i < order.size(); ++i) order[i] = i;
  const auto cost = [&](std::size_t i) {
    const std::string& policy = planned.requests[i].run.policy.name;
    const bool plans = policy == "elasticflow" || policy == "orrery-deadline" ||
                       policy == "chronus" || policy == "pollux";
    return planned.requests[i].workload->jobs.size() * (plans ? 100 : 1);
  };
  std::ranges::stable_sort(order, std::ranges::greater{}, cost);
  Planned sorted{.requests = {}, .keys = {}, .refused = std::move(planned.refused)};
  for (const std::size_t i : order) {
    sorted.requests.push_back(std::move(planned.requests[i]));
    sorted.keys.push_back(planned.keys[i]);
  }
  planned = std::move(sorted);
}

Planned plan_runs(std::span<const Figure* const> chosen, const Inputs& inputs, const Worlds& worlds,
                  bool report) {
  Planned planned;
  for (const Figure* figure : chosen) {
    for (const Setting& setting : settings()) {
      if (setting.figure != figure->name) continue;
      for (const Shown shown : figure->policies) {
        for (const SemanticsKind world : kWorlds) {
          const bool wanted = world == SemanticsKind::Orrery ? worlds.ours : worlds.published;
          if (wanted) plan_run(*figure, {&setting, shown, world}, inputs, report, planned);
        }
      }
    }
  }
  longest_first(planned);
  return planned;
}

std::optional<double> ratio_of(const std::optional<double>& a, const std::optional<double>& b) {
  if (!a || !b || *b <= 0) return std::nullopt;
  return *a / *b;
}

std::optional<double> value_of(const Runs& runs, const RunKey& key, Metric metric) {
  const auto run = runs.find(key);
  if (run == runs.end()) return std::nullopt;
  const RunSummary& summary = run->second.summary;
  switch (metric) {
    case Metric::DeadlineRatio:
      return summary.deadline_ratio;
    case Metric::AvgJct:
      return summary.avg_jct_s;
    case Metric::Efficiency:
      return summary.cluster_efficiency;
    case Metric::BestEffortGain: {
      const auto& [setting, shown, world] = key;
      const auto gandiva = runs.find({setting, Shown::Gandiva, world});
      if (gandiva == runs.end()) return std::nullopt;
      return ratio_of(gandiva->second.summary.best_effort_avg_jct_s, summary.best_effort_avg_jct_s);
    }
  }
  return std::nullopt;
}

std::optional<double> value_of(const ReferenceRuns& reference, const Row& row) {
  const auto find = [&](Shown shown) {
    const ShownPolicy& policy = shown_policy(shown);
    return reference.find(row.setting->trace, row.setting->cluster, policy.schedule);
  };
  const ReferenceRuns::Run* run = find(row.shown);
  if (run == nullptr) return std::nullopt;
  switch (row.metric) {
    case Metric::DeadlineRatio:
      return run->deadline_ratio;
    case Metric::AvgJct:
      return run->avg_jct_s;
    case Metric::Efficiency:
      return run->cluster_efficiency;
    case Metric::BestEffortGain: {
      const ReferenceRuns::Run* gandiva = find(Shown::Gandiva);
      if (gandiva == nullptr) return std::nullopt;
      return ratio_of(gandiva->best_effort_avg_jct_s, run->best_effort_avg_jct_s);
    }
  }
  return std::nullopt;
}

void explain(const Inputs& inputs, const Planned& planned, Row& row) {
  const std::string_view policy = shown_policy(row.shown).policy;
  const bool there = inputs.traces.at({row.setting->trace, row.figure->gpu_type}) != nullptr;
  std::vector<std::string> notes;
  if (!there) {
    row.gap = "not there";
    notes.push_back(fmt::format("no traces/{}.csv", row.setting->trace));
  } else if (!built(policy)) {
    row.gap = "not built";
    notes.push_back(fmt::format("there is no policy {} in this build", policy));
  } else if (!row.ours && !row.by_our_rules) {
    row.gap = "not run";
    for (const SemanticsKind world : kWorlds) {
      const auto refused = planned.refused.find({row.setting, row.shown, world});
      if (refused != planned.refused.end() && notes.empty()) notes.push_back(refused->second);
    }
    if (row.metric == Metric::BestEffortGain && !built("gandiva")) {
      row.gap = "not built";
      notes.emplace_back("measured against gandiva, which is not in this build");
    }
  }
  if (row.published && !row.reference) {
    notes.emplace_back("no reference: the difference is to the published value");
  }
  row.note = fmt::format("{}", fmt::join(notes, "; "));
}

std::vector<Row> compare(std::span<const Figure* const> chosen, const Inputs& inputs,
                         const Planned& planned, const Runs& runs, const ReferenceRuns& reference) {
  std::vector<Row> rows;
  for (const Figure* figure : chosen) {
    for (const Metric metric : figure->metrics) {
      std::size_t number = 0;
      for (const Setting& setting : settings()) {
        if (setting.figure != figure->name) continue;
        for (const Shown shown : figure->policies) {
          if (metric == Metric::BestEffortGain && shown == Shown::Gandiva) continue;
          Row& row = rows.emplace_back();
          row.figure = figure;
          row.setting = &setting;
          row.metric = metric;
          row.shown = shown;
          const double value = published(figure->name, metric, shown, number);
          if (value > 0) row.published = value;
          row.reference = value_of(reference, row);
          row.ours = value_of(runs, {&setting, shown, SemanticsKind::ElasticFlow}, metric);
          row.by_our_rules = value_of(runs, {&setting, shown, SemanticsKind::Orrery}, metric);
          explain(inputs, planned, row);
        }
        ++number;
      }
    }
  }
  return rows;
}

// A run that was cut short has numbers, but they mean nothing here.
bool complete(const RunSummary& run) {
  return run.completed + run.rejected + run.failed + run.cancelled == run.jobs && run.jobs > 0;
}

Runs runs_of(const Planned& planned, const RunsResult& result) {
  Runs runs;
  for (std::size_t i = 0; i < planned.keys.size(); ++i) {
    const RunSummary& summary = result.runs[i].summary;
    const auto jobs = static_cast<std::int64_t>(planned.requests[i].workload->jobs.size());
    if (!complete(summary) || summary.jobs != jobs) continue;
    const auto& [setting, shown, world] = planned.keys[i];
    ReportRun run = result.runs[i];
    run.summary.trace =
        fmt::format("{}, {}, {} rules", setting->figure, setting->label, to_string(world));
    if (planned.keys.size() > kTimelinesMax) {
      run.series.rows.clear();
      run.series.jobs.clear();
      run.series.spans.clear();
    }
    runs.emplace(planned.keys[i], std::move(run));
  }
  return runs;
}

Status write_report(const std::string& path, std::span<const Row> rows, const Runs& runs,
                    const Worlds& worlds) {
  std::vector<ReportRun> shown;
  for (const Setting& setting : settings()) {
    for (const SemanticsKind world : kWorlds) {
      for (const auto& [key, run] : runs) {
        if (std::get<0>(key) == &setting && std::get<2>(key) == world) shown.push_back(run);
      }
    }
  }
  return write_output(path, html_report(shown, drawn(rows, runs, worlds)));
}

}  // namespace
}  // namespace elasticflow

Status reproduce_elasticflow(const ReproduceArguments& arguments) {
  using namespace elasticflow;
  TRY_ASSIGN(const auto chosen, choose_figures(figures(), arguments.figure, "elasticflow"));
  TRY_ASSIGN(const Worlds worlds, choose_worlds(arguments.semantics, "elasticflow"));
  ReferenceRuns reference;
  if (!arguments.reference.empty()) {
    TRY_ASSIGN(reference, ReferenceRuns::read(arguments.reference));
  }
  TRY_ASSIGN(const Inputs inputs, read_inputs(arguments.data, chosen));
  const Planned planned = plan_runs(chosen, inputs, worlds, !arguments.report.empty());
  TRY_ASSIGN(const RunsResult result, make_runs(planned.requests, {.threads = arguments.threads,
                                                                   .progress = !arguments.quiet}));
  const Runs runs = runs_of(planned, result);
  const std::vector<Row> rows = compare(chosen, inputs, planned, runs, reference);
  TRY(print_text(arguments.json ? json(rows) + '\n' : text(rows, worlds)));
  if (!inputs.missing.empty() && !arguments.quiet) {
    std::fputs(fmt::format("orrery: not in {}/traces: {}\n", arguments.data,
                           fmt::join(inputs.missing, ", "))
                   .c_str(),
               stderr);
  }
  if (!arguments.report.empty()) TRY(write_report(arguments.report, rows, runs, worlds));
  if (result.interrupted) {
    return Error{Code::Cancelled, "interrupted: runs that had not ended are left out"};
  }
  return {};
}

}  // namespace orrery
