#include "experiments/twin_fit/measured_run.h"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <iterator>
#include <nlohmann/json.hpp>

#include "base/files.h"
#include "base/statistics.h"
#include "training/result/training_result.h"
#include "training/twin/fit.h"

namespace orrery {
namespace {

namespace fs = std::filesystem;

// An emulated link's bucket: training/emulation makes it of what 10 ms bring.
constexpr double kLinkBurst_s = 0.01;

template <class T>
T value_or(const nlohmann::json& json, const char* key, T otherwise) {
  const auto found = json.find(key);
  if (found == json.end()) return otherwise;
  if constexpr (std::is_same_v<T, std::string>) {
    return found->is_string() ? found->template get<T>() : otherwise;
  } else {
    return found->is_number() ? found->template get<T>() : otherwise;
  }
}

Result<nlohmann::json> read_json(const std::string& path) {
  TRY_ASSIGN(const std::string text, read_file(path));
  auto json = nlohmann::json::parse(text, nullptr, false);
  if (!json.is_object()) return invalid(path + ": is no JSON object");
  return json;
}

// "static-x" with x = 7 is "static-7".
std::string mode_given(std::string mode, int x) {
  if (x <= 0) return mode;
  if (mode.ends_with("-x")) mode.resize(mode.size() - 2);
  return fmt::format("{}-{}", mode, x);
}

Status take_settings(const nlohmann::json& json, const std::string& folder, MeasuredRun& run) {
  run.x = value_or(json, "x", 0);
  run.mode = value_or(json, "mode", std::string());
  run.architecture = value_or(json, "arch", std::string("ps"));
  run.workers = value_or(json, "workers", 0);
  run.batch = value_or(json, "batch", 0);
  run.rate = value_or(json, "rate", 0.1);
  if (json.contains("optimizer")) run.momentum = value_or(json["optimizer"], "momentum", 0.0);
  run.target = value_or(json, "target", 0.0);
  run.target_over = value_or(json, "target_over", run.target_over);
  run.evaluate_every = value_or(json, "evaluate_every", run.evaluate_every);
  run.steps = value_or(json, "steps", std::int64_t{0});
  if (run.mode.empty() || run.workers < 1 || run.batch < 1 || !(run.rate > 0)) {
    return invalid("run.json: mode, workers, batch and rate are needed");
  }
  run.servers.cores = value_or(json, "cores", 0.0);
  run.servers.bytes_per_s = value_or(json, "link", 0.0);
  run.servers.burst_s = kLinkBurst_s;
  run.servers.all_reduce = run.architecture != "ps";
  const int blocks = value_or(json, "blocks", 0);
  constexpr int kBlocksOfLgc = 4;  // as the trainer does
  run.servers.blocks = blocks > 0 ? blocks : run.mode.starts_with("lgc") ? kBlocksOfLgc : 1;
  const std::string script = value_or(json, "stragglers", std::string());
  if (script.empty()) return {};
  // The folder may have been moved, and its script with it.
  const std::string beside = folder + "/" + fs::path(script).filename().string();
  std::uint64_t seed = value_or(json, "straggler_seed", std::uint64_t{0});
  if (seed == 0 && json.contains("learner")) {
    seed = value_or(json["learner"], "seed", std::uint64_t{1});
  }
  TRY_ASSIGN(run.servers.script, read_straggler_script(fs::exists(beside) ? beside : script,
                                                       run.workers, seed, std::chrono::hours(1)));
  return {};
}

void take_result(const TrainingResult& result, MeasuredRun& run) {
  run.result = result;
  if (!result.trusted()) {
    run.not_trusted = result.load->why.empty() ? "the machine was too busy" : result.load->why;
  }
  const auto updates = static_cast<double>(result.tally.counts.updates);
  double last_s = 0;
  for (const RunTask& task : run.run.tasks) last_s = std::max(last_s, task.end_s);
  if (updates > 0) run.interval_s = last_s / updates;
}

std::string cell_of(const MeasuredRun& run) {
  // static-x 7 is called static-7 there, but ssp with 4 just ssp.
  for (const std::string& mode : {mode_given(run.mode, run.x), run.mode}) {
    const std::size_t at = run.name.rfind("-" + mode + "-s");
    if (at != std::string::npos) {
      return run.name.substr(0, at) + run.name.substr(at + 1 + mode.size());
    }
  }
  return run.architecture;
}

// What tasks of unequal samples cost is only known once the fixed part is, and the other way round.
TwinWorker fit_work_of(std::span<const MeasuredRun* const> runs) {
  TwinWorker fitted{.per_sample_s = 1};
  constexpr int kRounds = 4;
  for (int round = 0; round < kRounds; ++round) {
    std::vector<TaskWork> points;
    for (std::size_t i = 0; i < runs.size(); ++i) {
      const MeasuredRun& run = *runs[i];
      std::vector<TaskWork> more = run.work;
      if (round > 0 && run.unequal && !run.work.empty()) {
        more = measured_work(run.run, run.servers, fitted);
      }
      for (TaskWork& point : more) {
        point.run = static_cast<int>(i);
        points.push_back(point);
      }
    }
    fitted = fit_work(points);
  }
  return fitted;
}

// All-reduce in which no worker is a child: what a child's task took, it also waited for its
// parent.
bool is_whole_ring(const MeasuredRun& run) {
  return run.architecture != "ps" && (run.mode == "ssgd" || run.mode == "lb-bsp");
}

}  // namespace

Result<MeasuredRun> read_measured_run(const std::string& folder) {
  MeasuredRun run;
  fs::path path = fs::path(folder).lexically_normal();
  if (path.filename().empty()) path = path.parent_path();
  const bool of_matrix = fs::exists(path / "run" / "run.json");
  run.name = path.filename().string();
  const std::string inner = (of_matrix ? path / "run" : path).string();
  TRY_ASSIGN(const nlohmann::json settings, read_json(inner + "/run.json"));
  if (auto taken = take_settings(settings, path.string(), run); !taken.ok()) {
    return std::move(taken).error().at(inner);
  }
  TRY_ASSIGN(run.run, read_training_run(inner));
  if (fs::exists(path / "result.json")) {
    const std::string file = (path / "result.json").string();
    TRY_ASSIGN(const std::string text, read_file(file));
    auto result = parse_training_result(text);
    if (!result.ok()) return std::move(result).error().at(file);
    take_result(result.value(), run);
  } else {
    run.not_trusted = "there is no result.json; it did not end";
  }
  run.cell = cell_of(run);
  run.mode = mode_given(run.mode, run.x);
  if (run.servers.cores > 0 && (run.architecture == "ps" || is_whole_ring(run))) {
    if (run.servers.all_reduce) {
      run.servers.sum_work_s =
          measured_sum_work(run.run, run.servers, run.result.worker_cpu_s.value_or(0));
    }
    run.work = measured_work(run.run, run.servers);
    run.unequal = std::ranges::any_of(run.run.tasks, [&](const RunTask& task) {
      return task.samples != run.run.tasks.front().samples;
    });
  }
  return run;
}

Result<ModelFit> fit_model(std::span<const MeasuredRun* const> runs, const TwinModel& from,
                           const std::string& architecture) {
  ModelFit fit{.model = from};
  const bool any = std::ranges::any_of(runs, [&](const MeasuredRun* run) {
    return run->architecture == architecture && !run->work.empty();
  });
  std::vector<TrainingCurve> curves;
  bool measured = false;
  std::vector<double> bytes, paces, jitters;
  for (const MeasuredRun* const run : runs) {
    if (run->run.per_sample_s > 0) {
      paces.push_back(run->run.per_sample_s);
      jitters.push_back(run->run.jitter);
    }
    curves.push_back(run->run.curve);
    measured = measured || !run->work.empty();
    if (run->run.parameter_bytes > 0 && run->architecture == "ps") {
      bytes.push_back(run->run.parameter_bytes);
    }
  }
  if (measured) {
    const RunServers& servers = runs.front()->servers;
    std::vector<const MeasuredRun*> alike(runs.begin(), runs.end());
    if (any) {
      std::erase_if(alike,
                    [&](const MeasuredRun* run) { return run->architecture != architecture; });
    }
    fit.model.worker = fit_work_of(alike);
    fit.model.worker.cores = servers.cores;
    fit.model.worker.bytes_per_s = servers.bytes_per_s;
    fit.model.worker.burst_s = servers.burst_s;
    // What a quota makes of the same work is the most of how it scatters; the rest is not measured.
  } else if (!paces.empty()) {
    // The whole way is in what a sample took, so that nothing is left to be added.
    fit.model.worker.fixed_s = 0;
    fit.model.worker.per_sample_s = median(paces);
    fit.model.jitter = median(jitters);
  }
  if (!bytes.empty()) fit.model.parameter_bytes = median(bytes);
  std::vector<double> messages, served, served_waiting;
  for (const MeasuredRun* const run : runs) {
    if (!is_whole_ring(*run)) continue;
    // A worker that waits looks out for the others, which is no part of a sum.
    const bool calm = run->servers.script.steps.empty();
    if (run->servers.sum_work_s > 0)
      (calm ? served : served_waiting).push_back(run->servers.sum_work_s);
    std::ranges::copy(measured_messages(run->run, run->servers, fit.model.parameter_bytes),
                      std::back_inserter(messages));
  }
  if (!messages.empty()) fit.model.message_s = median(messages);
  if (served.empty()) std::swap(served, served_waiting);
  if (!served.empty()) fit.model.sum_work_s = median(served);
  TRY_ASSIGN(const ConvergenceFit learned, fit_convergence(curves, from.convergence));
  fit.model.convergence = learned.model;
  fit.points = learned.points;
  fit.accuracy_error = learned.accuracy_error;
  return fit;
}

}  // namespace orrery
