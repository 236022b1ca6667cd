#include "cloud/measurements/cm_dare.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <filesystem>
#include <optional>
#include <string_view>
#include <system_error>
#include <tuple>
#include <utility>

#include "base/files.h"

namespace orrery {
namespace {

namespace fs = std::filesystem;

constexpr double kSeconds_max = 1e9;

// The names in a folder, ascending; none if there is no such folder.
Result<std::vector<std::string>> names_in(const fs::path& folder) {
  std::vector<std::string> names;
  std::error_code problem;
  if (!fs::exists(folder, problem)) return names;
  for (const auto& entry : fs::directory_iterator(folder, problem)) {
    names.push_back(entry.path().filename().string());
  }
  if (problem) return system_error(folder.string(), problem.value());
  std::ranges::sort(names);
  return names;
}

constexpr std::string_view kModels[] = {"res15", "res32", "shakesmall", "shakebig"};

// "shakesbigp100ps2worker8": the model and the workers. Some names have a letter too many.
std::optional<std::pair<std::size_t, int>> parse_series_name(std::string_view name) {
  const std::size_t worker = name.rfind("worker");
  if (worker == std::string_view::npos) return std::nullopt;
  const auto workers = parse_integer(name.substr(worker + 6), 1, 1000);
  if (!workers.ok()) return std::nullopt;
  constexpr std::pair<std::string_view, std::size_t> kSpellings[] = {
      {"res15", 0}, {"res32", 1}, {"shakesmall", 2}, {"shakebig", 3}, {"shakesbig", 3}};
  for (const auto& [spelling, model] : kSpellings) {
    if (name.starts_with(spelling)) return std::pair(model, static_cast<int>(workers.value()));
  }
  return std::nullopt;
}

Status read_cluster_speeds(const fs::path& folder, std::vector<ClusterSpeedSeries>& all) {
  TRY_ASSIGN(const std::vector<std::string> groups, names_in(folder));
  for (const std::string& gpus : groups) {
    if (!fs::is_directory(folder / gpus)) continue;
    TRY_ASSIGN(const std::vector<std::string> names, names_in(folder / gpus));
    for (const std::string& name : names) {
      const fs::path path = folder / gpus / name / "run_.-tag-global_step_sec.csv";
      const auto parsed = parse_series_name(name);
      if (!parsed || !fs::exists(path)) {
        return invalid(
            fmt::format("{}: is no folder of speeds; its name must be MODEL...workerN "
                        "and it must hold {}",
                        (folder / gpus / name).string(), path.filename().string()));
      }
      TRY_ASSIGN(std::vector<SeriesPoint> speeds, read_series(path.string()));
      all.push_back({gpus, std::string(kModels[parsed->first]), parsed->second, std::move(speeds)});
    }
  }
  const auto order = [](const ClusterSpeedSeries& series) {
    const auto model = std::ranges::find(kModels, series.model);
    return std::tuple(series.gpus, model - std::begin(kModels), series.workers);
  };
  std::ranges::sort(all, {}, order);
  return {};
}

Status read_startup_folder(const fs::path& folder, std::vector<StartupTable>& all) {
  TRY_ASSIGN(const std::vector<std::string> settings, names_in(folder));
  for (const std::string& setting : settings) {
    if (!fs::is_directory(folder / setting)) continue;
    TRY_ASSIGN(const std::vector<std::string> names, names_in(folder / setting));
    for (const std::string& name : names) {
      if (!name.ends_with(".csv")) continue;
      const bool p100 = name.find("p100") != std::string::npos;
      if (!p100 && name.find("k80") == std::string::npos) {
        return invalid((folder / setting / name).string() +
                       ": its name holds neither k80 nor p100");
      }
      TRY_ASSIGN(std::vector<StartupSample> samples,
                 read_startups((folder / setting / name).string()));
      all.push_back(
          {setting, p100 ? "P100" : "K80", setting.starts_with("pre"), std::move(samples)});
    }
  }
  return {};
}

}  // namespace

Result<std::vector<StepTimeSample>> read_step_times(const std::string& path) {
  static constexpr std::string_view kColumns[] = {
      "GPU (temp)",       "Model (temp)",         "GPU TFLOPS",   "Model FLOPs",
      "Normalized Model", "Number of Parameters", "Step Time (s)"};
  static constexpr std::size_t kAll[] = {0, 1, 2, 3, 4, 5, 6};
  std::vector<StepTimeSample> samples;
  TRY(for_each_row(path, kColumns, kAll, [&](const Row& row) -> Status {
    StepTimeSample sample;
    TRY_ASSIGN(sample.gpu, row.name(0));
    TRY_ASSIGN(sample.model, row.name(1));
    TRY_ASSIGN(sample.tflops, row.number(2, 1e-6, 1e9));
    TRY_ASSIGN(const double flop, row.number(3, 1, 1e18));
    sample.gflop = flop / 1e9;
    TRY_ASSIGN(sample.normalized, row.number(4, -1e6, 1e6));
    TRY_ASSIGN(sample.parameters, row.number(5, 0, 1e15));
    TRY_ASSIGN(sample.step_s, row.number(6, 1e-9, kSeconds_max));
    samples.push_back(std::move(sample));
    return {};
  }));
  return samples;
}

Result<std::vector<CheckpointSample>> read_checkpoints(const std::string& path) {
  static constexpr std::string_view kColumns[] = {"Model", "Duration", "Checkpoint Size (MB)"};
  static constexpr std::size_t kAll[] = {0, 1, 2};
  std::vector<CheckpointSample> samples;
  TRY(for_each_row(path, kColumns, kAll, [&](const Row& row) -> Status {
    CheckpointSample sample;
    TRY_ASSIGN(sample.model, row.name(0));
    TRY_ASSIGN(sample.duration_s, row.number(1, 1e-9, kSeconds_max));
    TRY_ASSIGN(sample.size_mb, row.number(2, 0, 1e12));
    samples.push_back(std::move(sample));
    return {};
  }));
  return samples;
}

Result<std::vector<StartupSample>> read_startups(const std::string& path) {
  static constexpr std::string_view kColumns[] = {"Provisioning", "Staging", "Booting"};
  static constexpr std::size_t kAll[] = {0, 1, 2};
  std::vector<StartupSample> samples;
  TRY(for_each_row(path, kColumns, kAll, [&](const Row& row) -> Status {
    StartupSample sample;
    TRY_ASSIGN(sample.provisioning_s, row.number(0, 0, kSeconds_max));
    TRY_ASSIGN(sample.staging_s, row.number(1, 0, kSeconds_max));
    TRY_ASSIGN(sample.booting_s, row.number(2, 0, kSeconds_max));
    samples.push_back(sample);
    return {};
  }));
  return samples;
}

Result<CmDareData> read_cm_dare(const std::string& path) {
  const fs::path folder(path);
  CmDareData data;
  for (const std::string_view name : {"0latency_k80_new.csv", "0latency_p100_new2.csv"}) {
    const fs::path file = folder / "speed_data" / name;
    if (!fs::exists(file)) continue;
    TRY_ASSIGN(const std::vector<StepTimeSample> samples, read_step_times(file.string()));
    data.step_times.insert(data.step_times.end(), samples.begin(), samples.end());
  }
  const fs::path checkpoints = folder / "checkpoint" / "whole_data.csv";
  if (fs::exists(checkpoints)) {
    TRY_ASSIGN(data.checkpoints, read_checkpoints(checkpoints.string()));
  }
  TRY(read_startup_folder(folder / "startup_time", data.startups));
  TRY(read_cluster_speeds(folder / "speed_and_cluster_size", data.cluster_speeds));
  return data;
}

}  // namespace orrery
