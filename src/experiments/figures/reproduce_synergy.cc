#include "experiments/figures/reproduce_synergy.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <filesystem>
#include <memory>

#include "experiments/figures/synergy_reference.h"
#include "experiments/runs/output.h"
#include "experiments/runs/runs.h"
#include "workload/clusters/cluster_spec.h"
#include "workload/generators/generate.h"
#include "workload/trace.h"

namespace orrery {
namespace synergy {
namespace {

namespace fs = std::filesystem;

constexpr double kHour_s = 3600;

// Traces and clusters by how settings call them.
struct Inputs {
  std::map<std::string, std::shared_ptr<const Workload>> traces;
  std::map<std::string, std::shared_ptr<const Cluster>> clusters;
};

std::string trace_word(const Setting& setting) {
  if (setting.load == 0) return setting.trace;
  return fmt::format("synergy:load={:g},jobs={},{}", setting.load, setting.jobs(), setting.trace);
}

Result<std::string> file_in(const std::string& folder, const std::string& name) {
  const fs::path path = fs::path(folder) / name;
  std::error_code ignored;
  if (fs::exists(path, ignored)) return path.string();
  return invalid(fmt::format(
      "--data {}: {} is not there; name the folder with Synergy's traces and cluster files", folder,
      name));
}

Status read_inputs(const std::string& folder, const Setting& setting, Inputs& inputs) {
  const std::string word = trace_word(setting);
  if (!inputs.traces.contains(word)) {
    std::string source = word;
    if (setting.load == 0) {
      TRY_ASSIGN(source, file_in(folder, setting.trace));
    }
    TRY_ASSIGN(Workload workload,
               load_workload(source, {.format = setting.load == 0 ? "synergy" : "auto"}));
    inputs.traces.emplace(word, std::make_shared<const Workload>(std::move(workload)));
  }
  if (inputs.clusters.contains(setting.cluster)) return {};
  TRY_ASSIGN(const std::string path, file_in(folder, setting.cluster));
  TRY_ASSIGN(Cluster cluster, read_cluster(path));
  inputs.clusters.emplace(setting.cluster, std::make_shared<const Cluster>(std::move(cluster)));
  return {};
}

// The results of the released code: from --reference, or from the file beside the data.
Result<ReferenceTable> read_reference(const ReproduceArguments& arguments) {
  if (!arguments.reference.empty()) return ReferenceTable::read(arguments.reference);
  const fs::path beside = fs::path(arguments.data) / ".." / ".." / "reference" / "synergy.csv";
  std::error_code ignored;
  return fs::exists(beside, ignored) ? ReferenceTable::read(beside.string()) : ReferenceTable();
}

std::string policy_of(std::string_view order, std::string_view allocator) {
  return fmt::format("{}+{}", order, allocator);
}

// The optimum solves a program in every round, so it is run where the released code was.
bool is_run(std::string_view order, std::string_view allocator) {
  return allocator != "opt" || order == "fifo" || order == "srtf";
}

struct Planned {
  std::vector<RunRequest> requests;
  std::vector<RunKey> keys;
};

void plan_run(const Figure& figure, const RunKey& key, const Inputs& inputs, bool report,
              Planned& planned) {
  const auto& [setting, policy, world] = key;
  RunRequest request{.workload = inputs.traces.at(trace_word(*setting)),
                     .cluster = inputs.clusters.at(setting->cluster),
                     .run = {.policy = {.name = policy}, .semantics = world},
                     .label = policy,
                     .series = report && is_share(figure.metrics.front())};
  if (setting->at_once) request.run.policy.options.emplace("static", "true");
  if (setting->end > 0) {
    request.run.window = JobWindow{JobId{setting->first}, JobId{setting->end}};
  }
  planned.requests.push_back(std::move(request));
  planned.keys.push_back(key);
}

// Higher loads and the optimum take longer; begun last, they would keep one thread busy after all
// the others.
void longest_first(Planned& planned) {
  std::vector<std::size_t> order(planned.keys.size());
  for (std::size_t i = 0; i < order.size(); ++i) order[i] = i;
  std::ranges::stable_sort(order, std::ranges::greater{}, [&](std::size_t i) {
    const auto& [setting, policy, world] = planned.keys[i];
    return policy.ends_with("+opt") ? 1e9 : setting->load;
  });
  Planned sorted;
  for (const std::size_t i : order) {
    sorted.requests.push_back(std::move(planned.requests[i]));
    sorted.keys.push_back(planned.keys[i]);
  }
  planned = std::move(sorted);
}

Result<Planned> plan_runs(std::span<const Figure* const> chosen, const Inputs& inputs,
                          const Worlds& worlds, bool report) {
  Planned planned;
  for (const Figure* figure : chosen) {
    for (const Setting& setting : figure->settings) {
      for (const std::string_view order : figure->orders) {
        for (const std::string_view allocator : figure->allocators) {
          if (!is_run(order, allocator)) continue;
          for (const SemanticsKind world : kWorlds) {
            const bool wanted = world == SemanticsKind::Orrery ? worlds.ours : worlds.published;
            if (!wanted) continue;
            plan_run(*figure, {&setting, policy_of(order, allocator), world}, inputs, report,
                     planned);
          }
        }
      }
    }
  }
  for (const RunRequest& request : planned.requests) TRY(check_setup(request));
  longest_first(planned);
  return planned;
}

// A run that was cut short has numbers, but they mean nothing here.
Runs runs_of(const Planned& planned, const RunsResult& result) {
  Runs runs;
  for (std::size_t i = 0; i < planned.keys.size(); ++i) {
    const auto& [setting, policy, world] = planned.keys[i];
    const std::int64_t jobs = setting->end > 0 ? setting->end - setting->first
                                               : std::ssize(planned.requests[i].workload->jobs);
    if (result.runs[i].summary.completed != jobs) continue;
    ReportRun run = result.runs[i];
    run.summary.trace = fmt::format("{}, {} rules", run.summary.trace, to_string(world));
    runs.emplace(planned.keys[i], std::move(run));
  }
  return runs;
}

const RunSummary* find(const Runs& runs, const Row& row, SemanticsKind world) {
  const auto run = runs.find({row.setting, row.policy(), world});
  return run == runs.end() ? nullptr : &run->second.summary;
}

std::optional<double> value_of(const RunSummary* run, Metric metric) {
  if (run == nullptr) return std::nullopt;
  const auto scaled = [](const std::optional<double>& value, double by) {
    return value ? std::optional(*value * by) : std::nullopt;
  };
  switch (metric) {
    case Metric::AvgJct:
      return scaled(run->avg_jct_s, 1 / kHour_s);
    case Metric::P99Jct:
      return scaled(run->p99_jct_s, 1 / kHour_s);
    case Metric::Makespan:
      return scaled(run->makespan_s, 1 / kHour_s);
    case Metric::GpuUse:
      return scaled(run->gpu_utilisation, 100);
    case Metric::CpuUse:
      return scaled(run->cpu_utilisation, 100);
    case Metric::MemoryUse:
      return scaled(run->memory_utilisation, 100);
  }
  return std::nullopt;
}

std::optional<bool> keeps_up(const RunSummary* run) {
  if (run == nullptr || !run->avg_jct_s || !run->avg_wait_s) return std::nullopt;
  return *run->avg_wait_s <= *run->avg_jct_s * kWaitShare;
}

Row row_of(const Figure& figure, const Setting& setting, Metric metric, std::string_view order,
           std::string_view allocator) {
  Row row;
  row.figure = &figure;
  row.setting = &setting;
  row.order = order;
  row.allocator = allocator;
  row.metric = metric;
  row.published = published(figure, setting, row.policy(), metric);
  return row;
}

void fill(Row& row, const Runs& runs, const ReferenceTable& reference) {
  const auto* entry = reference.find(row.setting->reference, row.policy(), row.metric);
  if (entry != nullptr) {
    row.reference = entry->value;
    row.rounding = entry->rounding;
  }
  const RunSummary* there = find(runs, row, SemanticsKind::Synergy);
  const RunSummary* here = find(runs, row, SemanticsKind::Orrery);
  row.ours = value_of(there, row.metric);
  row.by_our_rules = value_of(here, row.metric);
  row.kept_up = keeps_up(there);
  row.kept_up_by_our_rules = keeps_up(here);
}

std::vector<Row> compare(std::span<const Figure* const> chosen, const Runs& runs,
                         const ReferenceTable& reference) {
  std::vector<Row> rows;
  for (const Figure* figure : chosen) {
    for (const Metric metric : figure->metrics) {
      for (const Setting& setting : figure->settings) {
        for (const std::string_view order : figure->orders) {
          for (const std::string_view allocator : figure->allocators) {
            if (!is_run(order, allocator)) continue;
            rows.push_back(row_of(*figure, setting, metric, order, allocator));
            fill(rows.back(), runs, reference);
          }
        }
      }
    }
  }
  return rows;
}

// The largest ratio of what the claim is about, over the rows it is about.
template <class Value>
std::optional<double> ratio_of(const Claim& claim, std::span<const Row> rows, Value value) {
  std::optional<double> best;
  const auto about = [&](const Row& row, std::string_view allocator) {
    return row.figure->name == claim.figure && row.metric == claim.metric &&
           row.allocator == allocator && (claim.order.empty() || row.order == claim.order);
  };
  for (const Row& over : rows) {
    for (const Row& under : rows) {
      if (!about(over, claim.over) || !about(under, claim.under)) continue;
      if (over.setting != under.setting || over.order != under.order) continue;
      const std::optional<double> a = value(over);
      const std::optional<double> b = value(under);
      if (a && b && *b > 0) best = std::max(best.value_or(0), *a / *b);
    }
  }
  return best;
}

std::vector<ClaimRow> judge(std::span<const Row> rows) {
  std::vector<ClaimRow> judged;
  for (const Claim& claim : claims()) {
    ClaimRow row;
    row.claim = &claim;
    row.published = claim.published;
    row.reference = ratio_of(claim, rows, [](const Row& r) { return r.reference; });
    row.ours = ratio_of(claim, rows, [](const Row& r) { return r.ours; });
    row.by_our_rules = ratio_of(claim, rows, [](const Row& r) { return r.by_our_rules; });
    if (row.reference || row.ours || row.by_our_rules) judged.push_back(row);
  }
  return judged;
}

Status write_report(const std::string& path, std::span<const Row> rows, const Runs& runs,
                    const Worlds& worlds) {
  std::vector<ReportRun> shown;
  for (const SemanticsKind world : kWorlds) {
    for (const Row& row : rows) {
      const auto run = runs.find({row.setting, row.policy(), world});
      const bool drawn_before = row.metric != row.figure->metrics.front();
      if (run == runs.end() || drawn_before || run->second.series.waiting.mean.empty()) continue;
      shown.push_back(run->second);
    }
  }
  return write_output(path, html_report(shown, drawn(rows, runs, worlds)));
}

}  // namespace

std::string Row::policy() const { return policy_of(order, allocator); }

}  // namespace synergy

Status reproduce_synergy(const ReproduceArguments& arguments) {
  using namespace synergy;
  TRY_ASSIGN(const auto chosen,
             choose_figures(std::span<const Figure>(figures()), arguments.figure, "synergy"));
  TRY_ASSIGN(const Worlds worlds, choose_worlds(arguments.semantics, "synergy"));
  TRY_ASSIGN(const ReferenceTable reference, read_reference(arguments));
  std::error_code ignored;
  if (!fs::is_directory(arguments.data, ignored)) {
    return invalid(fmt::format("--data {}: there is no such folder", arguments.data));
  }
  Inputs inputs;
  for (const Figure* figure : chosen) {
    for (const Setting& setting : figure->settings) {
      TRY(read_inputs(arguments.data, setting, inputs));
    }
  }
  TRY_ASSIGN(const Planned planned, plan_runs(chosen, inputs, worlds, !arguments.report.empty()));
  TRY_ASSIGN(const RunsResult result, make_runs(planned.requests, {.threads = arguments.threads,
                                                                   .progress = !arguments.quiet}));
  const Runs runs = runs_of(planned, result);
  Tables tables{.rows = compare(chosen, runs, reference), .claims = {}};
  tables.claims = judge(tables.rows);
  TRY(print_text(arguments.json ? json(tables) + '\n' : text(tables, worlds)));
  if (!arguments.report.empty()) {
    TRY(write_report(arguments.report, tables.rows, runs, worlds));
  }
  if (result.interrupted) {
    return Error{Code::Cancelled, "interrupted: runs that had not ended are left out"};
  }
  return {};
}

}  // namespace orrery
