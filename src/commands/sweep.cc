#include "commands/sweep.h"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <set>

#include "base/files.h"
#include "base/output_file.h"
#include "experiments/runs/run_texts.h"
#include "experiments/sweep/sweep_page.h"
#include "experiments/sweep/sweep_runs.h"
#include "report/terminal/standard_output.h"

namespace orrery {
namespace {

namespace fs = std::filesystem;

constexpr std::size_t kTableRows = 100;
constexpr std::size_t kWarnings = 8;

std::vector<std::string> split(std::string_view text) {
  std::vector<std::string> parts;
  while (true) {
    const std::size_t comma = text.find(',');
    parts.emplace_back(text.substr(0, comma));
    if (comma == std::string_view::npos) return parts;
    text.remove_prefix(comma + 1);
  }
}

// "1-25" or "1,2,3"
Result<std::vector<std::string>> seeds_of(const std::string& text) {
  if (text.find('-') == std::string::npos) return split(text);
  const auto range = parse_window(text);
  if (!range.ok()) {
    return invalid(fmt::format("--seed {}: write A-B with A < B, or A,B,C", text));
  }
  return sweep_range(static_cast<double>(index(range.value()->first)),
                     static_cast<double>(index(range.value()->end)), 1);
}

class OptionsReader {
 public:
  explicit OptionsReader(const SweepArguments& arguments) : arguments_(arguments) {}

  Result<SweepSpec> read() && {
    spec_.grids.emplace_back();
    TRY(read_traces());
    const SimulateArguments& run = arguments_.run;
    TRY(add_axis("policy", "policy", run.policies));
    for (const std::string& option : run.options) {
      TRY_ASSIGN(const auto pair, split_pair(option));
      spec_.common["option." + pair.first] = pair.second;
    }
    add("semantics", run.semantics);
    if (run.speed_error > 0) add("speed-error", fmt::to_string(run.speed_error));
    add("round", run.round);
    add("window", run.window);
    if (run.limit > 0) add("limit", fmt::to_string(run.limit));
    add("trace-format", run.trace_format);
    add("profiles", run.profiles);
    add("gpu-type", run.gpu_type);
    for (const std::string& text : arguments_.axes) {
      TRY_ASSIGN(const auto pair, split_pair(text));
      const std::string key = sweep_setting_key(pair.first);
      if (key.empty()) {
        return invalid(
            fmt::format("--axis {}: there is no setting '{}'; {} A policy's option is "
                        "option.KEY",
                        text, pair.first, nearest_sweep_name(pair.first, sweep_setting_names())));
      }
      TRY(add_axis(pair.first, key, split(pair.second)));
    }
    if (!arguments_.seeds.empty()) {
      TRY_ASSIGN(const std::vector<std::string> seeds, seeds_of(arguments_.seeds));
      TRY(add_axis("seed", "seed", seeds));
    }
    for (const std::string& text : arguments_.baseline) {
      TRY_ASSIGN(const auto pair, split_pair(text));
      auto choice = find_sweep_values(spec_, pair.first, {pair.second});
      if (!choice.ok()) return std::move(choice).error().at("--baseline " + text);
      spec_.baseline.push_back(std::move(choice).value());
    }
    return std::move(spec_);
  }

 private:
  void add(const char* key, const std::string& text) {
    if (!text.empty()) spec_.common[key] = text;
  }

  // One value is a setting, several are an axis.
  Status add_axis(std::string_view name, const std::string& key,
                  const std::vector<std::string>& texts) {
    if (texts.size() == 1) spec_.common[key] = texts[0];
    if (texts.size() < 2) return {};
    std::vector<SweepValue> values;
    for (const std::string& text : texts) {
      values.push_back({.label = text, .settings = {{key, text}}});
    }
    return add_values(name, std::move(values));
  }

  Status add_values(std::string_view name, std::vector<SweepValue> values) {
    if (spec_.find_axis(name)) return invalid(fmt::format("the axis {} comes twice", name));
    SweepChoice choice{.axis = add_sweep_axis(spec_, name), .values = {}};
    for (SweepValue& value : values) {
      TRY_ASSIGN(const std::size_t place,
                 add_sweep_value(spec_.axes[choice.axis], std::move(value)));
      choice.values.push_back(place);
    }
    spec_.grids[0].push_back(std::move(choice));
    return {};
  }

  Status read_traces() {
    const std::vector<std::string>& traces = arguments_.run.traces;
    const std::vector<std::string>& clusters = arguments_.run.clusters;
    if (clusters.size() < 2) {
      if (!clusters.empty()) add("cluster", clusters[0]);
      return add_axis("trace", "trace", traces);
    }
    if (clusters.size() != traces.size()) {
      return invalid(
          fmt::format("{} clusters for {} traces: name one --cluster for all traces, or "
                      "one for each; --axis cluster=A,B runs every trace on each",
                      clusters.size(), traces.size()));
    }
    std::vector<SweepValue> values;
    for (std::size_t i = 0; i < traces.size(); ++i) {
      values.push_back(
          {.label = traces[i], .settings = {{"trace", traces[i]}, {"cluster", clusters[i]}}});
    }
    return add_values("trace", std::move(values));
  }

  const SweepArguments& arguments_;
  SweepSpec spec_{};
};

Result<SweepSpec> read_spec(const SweepArguments& arguments) {
  const SimulateArguments& run = arguments.run;
  if (arguments.file.empty()) {
    if (run.traces.empty() && run.policies.empty() && arguments.axes.empty()) {
      return invalid("name a sweep file, or --trace, --cluster and --policy");
    }
    return sweep_of_options(arguments);
  }
  if (!run.traces.empty() || !run.clusters.empty() || !run.policies.empty() ||
      !run.options.empty() || !arguments.axes.empty() || !arguments.seeds.empty() ||
      !arguments.baseline.empty()) {
    return invalid(arguments.file +
                   ": the file says what is run; leave out the other options but "
                   "--out, --resume, --report, --threads and --quiet");
  }
  TRY_ASSIGN(const std::string text, read_file(arguments.file));
  TRY_ASSIGN(SweepSpec spec, parse_sweep(arguments.file, text));
  resolve_paths(spec, fs::path(arguments.file).parent_path().string());
  return spec;
}

std::string folder_of(const SweepArguments& arguments) {
  if (!arguments.out.empty()) return arguments.out;
  if (arguments.file.empty()) return "orrery-sweep";
  return fs::path(arguments.file).stem().string() + "-sweep";
}

std::string name_of(const SweepArguments& arguments) {
  return arguments.file.empty() ? "" : fs::path(arguments.file).stem().string();
}

Status make_folder(const std::string& folder) {
  std::error_code problem;
  fs::create_directories(folder, problem);
  if (!problem) return {};
  return Error{Code::FailedPrecondition, fmt::format("--out {}: {}", folder, problem.message())};
}

// Each different warning of a policy once, the first few.
std::string warnings_of(const SweepPlan& plan, const SweepResults& results) {
  const auto field = static_cast<std::size_t>(std::ranges::find(results.fields(), "warnings") -
                                              results.fields().begin());
  std::vector<std::string> lines;
  std::set<std::string> known;
  for (std::size_t run = 0; run < plan.points.size(); ++run) {
    if (!results.has(run) || results.row(run)[field].empty()) continue;
    std::string line =
        fmt::format("orrery: warning: {}: {}\n", plan.points[run].label, results.row(run)[field]);
    if (known.insert(line).second) lines.push_back(std::move(line));
  }
  std::string text;
  for (std::size_t i = 0; i < std::min(lines.size(), kWarnings); ++i) text += lines[i];
  if (lines.size() > kWarnings) {
    text += fmt::format("orrery: {} more warnings: the column warnings of runs.csv\n",
                        lines.size() - kWarnings);
  }
  return text;
}

struct Outputs {
  std::string folder;
  std::string report;

  std::string file(const char* name) const { return (fs::path(folder) / name).string(); }
};

Status write_outputs(const SweepPlan& plan, const SweepJournal& journal, const Outputs& outputs,
                     const SweepArguments& arguments) {
  TRY_ASSIGN(const SweepResults results, SweepResults::read(plan, journal));
  const SweepStatistics statistics = statistics_of(plan, results);
  TRY(write_runs_csv(outputs.file("runs.csv"), plan, results));
  TRY(write_jobs_csv(outputs.file("jobs.csv"), journal));
  TRY(write_summary_csv(outputs.file("summary.csv"), plan, statistics));
  if (!outputs.report.empty()) {
    TRY(write_output(outputs.report, sweep_page(plan, statistics, name_of(arguments))));
  }
  if (!arguments.run.quiet) std::fputs(warnings_of(plan, results).c_str(), stderr);
  TRY(print_text(sweep_table(plan, statistics, terminal_width(), kTableRows)));
  return print_text(fmt::format("\n{} runs: {}, jobs.csv and summary.csv\n", journal.finished(),
                                outputs.file("runs.csv")));
}

// "512 of 1000 runs are done; go on with: orrery sweep loads.toml --out DIR --resume"
std::string way_on(const SweepArguments& arguments, const Outputs& outputs,
                   const SweepJournal& journal) {
  const std::string command =
      arguments.file.empty()
          ? "the same command with --resume"
          : fmt::format("orrery sweep {} --out {} --resume", arguments.file, outputs.folder);
  return fmt::format("{} of {} runs are done; go on with: {}", journal.finished(), journal.runs(),
                     command);
}

// Makes the runs and writes what is done, also after Ctrl-C. True: interrupted.
Result<bool> make_and_write(const SweepPlan& plan, SweepJournal& journal, const Outputs& outputs,
                            const SweepArguments& arguments) {
  TRY_ASSIGN(const bool interrupted,
             make_sweep_runs(plan, journal,
                             {.threads = arguments.run.threads, .progress = !arguments.run.quiet}));
  TRY(write_outputs(plan, journal, outputs, arguments));
  return interrupted;
}

}  // namespace

Result<SweepSpec> sweep_of_options(const SweepArguments& arguments) {
  return OptionsReader(arguments).read();
}

Status sweep_command(const SweepArguments& arguments) {
  TRY_ASSIGN(const SweepSpec spec, read_spec(arguments));
  TRY_ASSIGN(const SweepPlan plan, plan_sweep(spec));
  const Outputs outputs{.folder = folder_of(arguments), .report = arguments.run.report};
  TRY(make_folder(outputs.folder));
  std::vector<NamedFile> inputs = sweep_inputs(plan);
  if (!arguments.file.empty()) inputs.push_back({"the sweep", arguments.file});
  const NamedFile files[] = {{"--out", outputs.file("sweep.journal")},
                             {"--out", outputs.file("runs.csv")},
                             {"--out", outputs.file("jobs.csv")},
                             {"--out", outputs.file("summary.csv")},
                             {"--report", outputs.report}};
  TRY(check_outputs(files, inputs));
  TRY_ASSIGN(const std::string identity, sweep_identity(plan));
  const auto begin = arguments.resume ? SweepJournal::Begin::Resume : SweepJournal::Begin::Fresh;
  TRY_ASSIGN(SweepJournal journal, SweepJournal::open(outputs.file("sweep.journal"), identity,
                                                      plan.points.size(), begin));
  if (!arguments.run.quiet && arguments.resume && journal.finished() > 0) {
    std::fputs(
        fmt::format("{} of {} runs are done{}\n", journal.finished(), journal.runs(),
                    journal.bytes_cut_off() > 0 ? "; one was half-written and is made again" : "")
            .c_str(),
        stderr);
  }
  auto made = make_and_write(plan, journal, outputs, arguments);
  if (made.ok() && !made.value()) return {};
  Error error = made.ok() ? Error{Code::Cancelled, "interrupted"} : std::move(made).error();
  if (journal.finished() > 0) {
    error.message += fmt::format("\n{}", way_on(arguments, outputs, journal));
  }
  return error;
}

}  // namespace orrery
