#include "cloud/measurements/published_data.h"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <set>
#include <string_view>
#include <system_error>
#include <utility>

#include "base/files.h"

namespace orrery {
namespace {

namespace fs = std::filesystem;

constexpr std::string_view kTransientParts[] = {"training", "lifetime", "adaptive_lr"};
constexpr std::string_view kCmDareParts[] = {"speed_data", "checkpoint", "startup_time",
                                             "speed_and_cluster_size"};
constexpr std::string_view kSinglesFolder = "1ps_k80";
constexpr std::string_view kSinglesEnd = "_data.csv";

bool holds(const fs::path& folder, std::span<const std::string_view> parts) {
  return std::ranges::any_of(
      parts, [&](std::string_view part) { return fs::is_directory(folder / part); });
}

Result<std::vector<fs::path>> sorted_entries(const fs::path& folder) {
  std::vector<fs::path> entries;
  std::error_code problem;
  for (const auto& entry : fs::directory_iterator(folder, problem)) entries.push_back(entry.path());
  if (problem) return system_error(folder.string(), problem.value());
  std::ranges::sort(entries);
  return entries;
}

// 1ps_k80 has no tables of results, only the evaluations of one run for each number of workers.
Status read_singles(const fs::path& folder, std::vector<SingleTraining>& all) {
  static constexpr std::string_view kColumns[] = {"Wall Time", "Step", "Accuracy"};
  static constexpr std::size_t kRequired[] = {0, 1, 2};
  TRY_ASSIGN(const std::vector<fs::path> entries, sorted_entries(folder));
  for (const fs::path& entry : entries) {
    const std::string name = entry.filename().string();
    if (!name.ends_with(kSinglesEnd)) continue;
    const auto workers =
        parse_integer(std::string_view(name).substr(0, name.size() - kSinglesEnd.size()), 1, 1000);
    if (!workers.ok()) return invalid(entry.string() + ": its name does not begin with a number");
    SingleTraining single{static_cast<int>(workers.value()), {}};
    TRY(for_each_row(entry.string(), kColumns, kRequired, [&](const Row& row) -> Status {
      SeriesPoint point;
      TRY_ASSIGN(point.at_s, row.number(0, 0, kStamp_s_max));
      TRY_ASSIGN(point.step, row.integer(1, 0, kStepMax));
      TRY_ASSIGN(point.value, row.number(2, 0, 1));
      single.evaluations.push_back(point);
      return {};
    }));
    all.push_back(std::move(single));
  }
  std::ranges::sort(all, {}, &SingleTraining::workers);
  return {};
}

Status read_training(const fs::path& folder, PublishedData& data) {
  TRY_ASSIGN(const std::vector<fs::path> experiments, sorted_entries(folder));
  for (const fs::path& experiment : experiments) {
    if (!fs::is_directory(experiment)) continue;
    TRY_ASSIGN(const std::vector<fs::path> configs, sorted_entries(experiment));
    for (const fs::path& config : configs) {
      if (!fs::is_directory(config)) continue;
      if (config.filename() == kSinglesFolder) {
        TRY(read_singles(config, data.singles));
        continue;
      }
      const std::string name = (experiment.filename() / config.filename()).generic_string();
      auto setup = parse_setup(name);
      if (!setup.ok()) return std::move(setup).error().at(config.string());
      TRY_ASSIGN(TrainingFolder runs, read_training_folder(config.string()));
      data.training.push_back({std::move(setup).value(), std::move(runs)});
    }
  }
  std::ranges::sort(data.training, stands_before, &MeasuredTraining::setup);
  return {};
}

Status read_rates(const fs::path& folder, std::vector<RateSeries>& all) {
  TRY_ASSIGN(const std::vector<fs::path> entries, sorted_entries(folder));
  for (const fs::path& entry : entries) {
    if (entry.extension() != ".csv") continue;
    TRY_ASSIGN(std::vector<SeriesPoint> points, read_series(entry.string()));
    all.push_back({entry.stem().string(), std::move(points)});
  }
  return {};
}

Status read_transient(const fs::path& folder, PublishedData& data) {
  if (fs::is_directory(folder / "training")) TRY(read_training(folder / "training", data));
  if (fs::is_directory(folder / "adaptive_lr")) TRY(read_rates(folder / "adaptive_lr", data.rates));
  const fs::path lifetimes = folder / "lifetime" / "lifetime.csv";
  if (fs::exists(lifetimes)) {
    TRY_ASSIGN(data.lifetimes, read_lifetimes(lifetimes.string()));
  }
  return {};
}

// The folders of either kind that `given` stands for.
struct Found {
  std::set<fs::path> transient;
  std::set<fs::path> cm_dare;
};

Status find_in(const std::string& given, Found& found) {
  std::error_code problem;
  const fs::path folder = fs::canonical(given, problem);
  if (problem) return system_error(given, problem.value());
  const bool transient = holds(folder, kTransientParts), cm_dare = holds(folder, kCmDareParts);
  if (transient) found.transient.insert(folder);
  if (cm_dare) found.cm_dare.insert(folder);
  if (transient || cm_dare) return {};
  for (const fs::path& below : {folder / "transient", folder / "data" / "transient"}) {
    if (holds(below, kTransientParts)) found.transient.insert(below);
  }
  for (const fs::path& below : {folder / "cm-dare", folder / "data" / "cm-dare"}) {
    if (holds(below, kCmDareParts)) found.cm_dare.insert(below);
  }
  if (!found.transient.empty() || !found.cm_dare.empty()) return {};
  return Error{
      Code::NotFound,
      fmt::format("{}: holds neither runs of Transient-DL ({}) nor data of CM-DARE ({}); "
                  "give a folder with some of these",
                  given, fmt::join(kTransientParts, "/, "), fmt::join(kCmDareParts, "/, "))};
}

void add_neighbours(Found& found) {
  if (found.cm_dare.empty()) {
    for (const fs::path& folder : found.transient) {
      const fs::path beside = folder.parent_path() / "cm-dare";
      if (folder.filename() == "transient" && holds(beside, kCmDareParts)) {
        found.cm_dare.insert(beside);
      }
    }
  } else if (found.transient.empty()) {
    for (const fs::path& folder : found.cm_dare) {
      const fs::path beside = folder.parent_path() / "transient";
      if (folder.filename() == "cm-dare" && holds(beside, kTransientParts)) {
        found.transient.insert(beside);
      }
    }
  }
}

Status check_one(const std::set<fs::path>& folders, std::string_view of) {
  if (folders.size() < 2) return {};
  return invalid(fmt::format("{} and {} both hold data of {}; give one of them",
                             folders.begin()->string(), std::next(folders.begin())->string(), of));
}

}  // namespace

Result<PublishedData> read_published_data(std::span<const std::string> folders) {
  Found found;
  for (const std::string& folder : folders) TRY(find_in(folder, found));
  add_neighbours(found);
  TRY(check_one(found.transient, "Transient-DL"));
  TRY(check_one(found.cm_dare, "CM-DARE"));
  PublishedData data;
  for (const fs::path& folder : found.transient) {
    data.folders.push_back(folder.string());
    TRY(read_transient(folder, data));
  }
  for (const fs::path& folder : found.cm_dare) {
    data.folders.push_back(folder.string());
    TRY_ASSIGN(data.cm_dare, read_cm_dare(folder.string()));
  }
  return data;
}

}  // namespace orrery
