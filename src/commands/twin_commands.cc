#include "commands/twin_commands.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <nlohmann/json.hpp>

#include "base/files.h"
#include "base/statistics.h"
#include "commands/input_files.h"
#include "experiments/runs/output.h"
#include "experiments/twin_fit/measured_run.h"
#include "training/mode_selection/director_by_name.h"

namespace orrery {
namespace {

constexpr auto kHorizon = std::chrono::hours(24 * 30);

Result<TwinModel> read_model(const std::string& path) {
  if (path.empty()) return TwinModel{};
  TRY_ASSIGN(const std::string text, read_file(path));
  return parse_twin_model(text, path);
}

Result<TwinSetup> setup_of(const TwinRunArguments& a) {
  TRY_ASSIGN(const TwinModel model, read_model(a.model));
  if (a.architecture != "ps" && a.architecture != "allreduce") {
    return invalid(fmt::format("--arch {}: write ps or allreduce", a.architecture));
  }
  if (a.target <= 0 && a.steps <= 0) {
    return invalid("say when a run ends: --target 0.9 or --steps 10000");
  }
  if (a.target > 0 && a.steps == 0 && a.target >= model.convergence.accuracy_last) {
    return invalid(
        fmt::format("--target {}: this model ends at {:.3f}; ask for less, or say --steps",
                    a.target, model.convergence.accuracy_last));
  }
  TwinSetup setup = twin_setup(model, a.workers);
  setup.horizon = kHorizon;
  const int round = a.workers * a.batch;
  setup.conductor = {.architecture = a.architecture == "ps" ? Architecture::ParameterServers
                                                            : Architecture::AllReduce,
                     .global_batch = round,
                     .rate = {.base = a.rate},
                     .samples_limit = a.steps * a.batch,
                     .evaluate_every = 4 * round,
                     .target_accuracy = a.target};
  return setup;
}

Result<TwinResult> run_one(const TwinRunArguments& a, TwinSetup setup, const std::string& mode,
                           std::uint64_t seed) {
  setup.seed = seed;
  constexpr int kBlocksOfLgc = 4;  // as the trainer does
  setup.conductor.blocks = mode.starts_with("lgc") ? kBlocksOfLgc : 1;
  if (!a.stragglers.empty()) {
    TRY_ASSIGN(setup.script, read_straggler_script(a.stragglers, a.workers, seed, kHorizon / 30));
  }
  TRY_ASSIGN(auto director, director_by_name(mode, 0,
                                             {.workers = a.workers,
                                              .architecture = setup.conductor.architecture,
                                              .samples_limit = setup.conductor.samples_limit,
                                              .blocks = setup.conductor.blocks}));
  return run_twin(setup, std::move(director));
}

nlohmann::ordered_json json_of(const std::string& mode, std::uint64_t seed, const TwinResult& run) {
  nlohmann::ordered_json json;
  json["mode"] = mode;
  json["seed"] = seed;
  json["time_to_target_s"] = !run.time_to_target_s ? nlohmann::ordered_json()
                                                   : nlohmann::ordered_json(*run.time_to_target_s);
  json["final_accuracy"] = run.final_accuracy.value_or(0);
  json["wall_s"] = run.wall_s;
  json["gradients"] = run.tally.counts.gradients;
  json["updates"] = run.tally.counts.updates;
  json["mean_staleness"] = run.mean_staleness();
  json["mode_switches"] = run.tally.counts.mode_switches;
  json["injector"] = "twin";
  return json;
}

std::string curve_text(const TwinResult& run) {
  std::string text = "time_s,samples,accuracy,loss,staleness,mode\n";
  for (const TwinPoint& point : run.curve) {
    // A mode's name may hold commas, and no quotes.
    text += fmt::format("{:.6f},{},{:.6f},{:.6f},{:.4f},\"{}\"\n", point.time_s, point.samples,
                        point.accuracy, point.loss, point.staleness, point.mode);
  }
  return text;
}

std::string row_of(const std::string& mode, const std::vector<TwinResult>& runs) {
  std::vector<double> times, staleness, rates, switches;
  for (const TwinResult& run : runs) {
    times.push_back(run.time_to_target_s.value_or(HUGE_VAL));
    staleness.push_back(run.mean_staleness());
    rates.push_back(static_cast<double>(run.tally.counts.gradients) / run.wall_s);
    switches.push_back(static_cast<double>(run.tally.counts.mode_switches));
  }
  const auto time = [](double value) {
    return std::isfinite(value) ? fmt::format("{:.1f}", value) : std::string("never");
  };
  return fmt::format("{:<14}{:>12}{:>10}{:>10}{:>14.1f}{:>11.2f}{:>10.0f}\n", mode,
                     time(median(times)), time(*std::ranges::min_element(times)),
                     time(*std::ranges::max_element(times)), median(rates), median(staleness),
                     median(switches));
}

}  // namespace

Status twin_run_command(const TwinRunArguments& a) {
  TRY_ASSIGN(const TwinSetup setup, setup_of(a));
  if (!a.curve.empty() && (a.modes.size() != 1 || a.seeds.size() != 1)) {
    return invalid("--curve is of one run: give one mode and one seed");
  }
  const NamedFile curve{"--curve", a.curve};
  const NamedFile inputs[] = {{"--model", a.model}, {"--stragglers", a.stragglers}};
  TRY(check_outputs({&curve, 1}, inputs));
  auto json = nlohmann::ordered_json::array();
  std::string table =
      fmt::format("{:<14}{:>12}{:>10}{:>10}{:>14}{:>11}{:>10}\n", "mode", "to target s", "least",
                  "most", "gradients/s", "staleness", "switches");
  for (const std::string& mode : a.modes) {
    std::vector<TwinResult> runs;
    for (const std::uint64_t seed : a.seeds) {
      TRY_ASSIGN(TwinResult run, run_one(a, setup, mode, seed));
      json.push_back(json_of(mode, seed, run));
      if (!a.curve.empty()) TRY(write_output(a.curve, curve_text(run)));
      runs.push_back(std::move(run));
    }
    table += row_of(mode, runs);
  }
  return print_text(a.json ? nlohmann::ordered_json{{"runs", json}}.dump() + "\n" : table);
}

Status twin_fit_command(const TwinFitArguments& a) {
  std::vector<NamedFile> inputs = {{"--model", a.model}};
  for (const std::string& path : a.curves) add_inputs(inputs, "the fit", path);
  const NamedFile output{"--output", a.output};
  TRY(check_outputs({&output, 1}, inputs));
  TRY_ASSIGN(TwinModel model, read_model(a.model));
  std::vector<MeasuredRun> runs;
  for (const std::string& path : a.curves) {
    MeasuredRun run;
    if (std::filesystem::is_directory(path)) {
      TRY_ASSIGN(run, read_measured_run(path));
    } else {
      TRY_ASSIGN(run.run.curve, read_training_curve(path));
    }
    runs.push_back(std::move(run));
  }
  std::vector<const MeasuredRun*> all;
  for (const MeasuredRun& run : runs) all.push_back(&run);
  TRY_ASSIGN(const ModelFit fit, fit_model(all, model));
  const std::string text = twin_model_text(fit.model);
  if (!a.output.empty()) TRY(write_output(a.output, text));
  if (a.json || a.output.empty()) TRY(print_text(text));
  if (a.output.empty()) return {};
  return print_text(fmt::format("{} points of {} curves, accuracy missed by {:.4f} in the mean\n",
                                fit.points, runs.size(), fit.accuracy_error));
}

}  // namespace orrery
