#include "scheduling/policy/sharing/pollux_data.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <filesystem>
#include <fstream>
#include <span>

namespace orrery {
namespace {

namespace fs = std::filesystem;

constexpr double kLargest = 1e300;
constexpr std::size_t kLinesMax = 10'000'000;

std::vector<std::string_view> split(std::string_view line) {
  while (!line.empty() && (line.back() == '\r' || line.back() == ' ')) line.remove_suffix(1);
  std::vector<std::string_view> cells;
  for (std::size_t begin = 0; begin <= line.size();) {
    const std::size_t end = std::min(line.find(',', begin), line.size());
    cells.push_back(line.substr(begin, end - begin));
    begin = end + 1;
  }
  return cells;
}

// Rows as numbers, in the order of the columns asked for; none is below zero.
Result<std::vector<std::vector<double>>> read_columns(std::string_view name, std::istream& in,
                                                      std::span<const std::string_view> wanted) {
  std::vector<std::vector<double>> rows;
  std::vector<std::size_t> places;
  std::string line;
  for (std::size_t number = 1; std::getline(in, line) && number < kLinesMax; ++number) {
    const auto cells = split(line);
    if (number == 1) {
      for (const std::string_view column : wanted) {
        const auto found = std::ranges::find(cells, column);
        if (found == cells.end()) {
          return invalid(fmt::format("{}:1: there is no column '{}'", name, column));
        }
        places.push_back(static_cast<std::size_t>(found - cells.begin()));
      }
      continue;
    }
    if (cells.size() == 1 && cells[0].empty()) continue;
    auto& row = rows.emplace_back();
    for (std::size_t i = 0; i < places.size(); ++i) {
      double value = -1;
      const std::string_view cell = places[i] < cells.size() ? cells[places[i]] : "";
      const auto [rest, problem] = std::from_chars(cell.data(), cell.data() + cell.size(), value);
      const bool read = problem == std::errc() && rest == cell.data() + cell.size();
      if (!read || !(value >= 0 && value <= kLargest)) {
        return invalid(fmt::format("{}:{}: {}: expected a number of 0 or more, not '{}'", name,
                                   number, wanted[i], cell));
      }
      row.push_back(value);
    }
  }
  if (rows.empty()) return invalid(fmt::format("{}: holds no row", name));
  return rows;
}

constexpr double kCountMax = 1e6;

Result<StepTime> step_of(std::string_view name, double nodes, double replicas, double local,
                         double step_s, double sync_s) {
  const bool counts =
      nodes >= 1 && replicas >= nodes && replicas <= kCountMax && local >= 1 && local <= kCountMax;
  if (!counts || !(step_s > 0) || !(sync_s < step_s)) {
    return invalid(fmt::format(
        "{}: {} replicas on {} nodes with {} samples: step {} s, of which {} s to synchronise, "
        "cannot be",
        name, replicas, nodes, local, step_s, sync_s));
  }
  return StepTime{static_cast<int>(nodes), static_cast<int>(replicas), static_cast<int>(local),
                  step_s, sync_s};
}

template <class Parse>
auto read_file(const fs::path& path, Parse parse)
    -> decltype(parse("", std::declval<std::istream&>())) {
  std::ifstream in(path);
  if (!in) return Error{Code::NotFound, fmt::format("{}: cannot be opened", path.string())};
  return parse(path.string(), in);
}

// BATCH of validation-BATCH.csv; 0: another file.
int batch_in(const std::string& file) {
  constexpr std::string_view kBefore = "validation-";
  constexpr std::string_view kAfter = ".csv";
  if (!file.starts_with(kBefore) || !file.ends_with(kAfter)) return 0;
  const std::string_view text =
      std::string_view(file).substr(kBefore.size(), file.size() - kBefore.size() - kAfter.size());
  int batch = 0;
  const auto [rest, problem] = std::from_chars(text.data(), text.data() + text.size(), batch);
  return problem == std::errc() && rest == text.data() + text.size() ? std::max(batch, 0) : 0;
}

Result<TrainingData> read_model(const fs::path& folder) {
  TrainingData data;
  TRY_ASSIGN(data.steps, read_file(folder / "placements.csv", parse_placements));
  TRY_ASSIGN(const auto more, read_file(folder / "scalability.csv", parse_scalability));
  data.steps.insert(data.steps.end(), more.begin(), more.end());
  std::error_code problem;
  for (const auto& file : fs::directory_iterator(folder, problem)) {
    const int batch = batch_in(file.path().filename().string());
    if (batch == 0) continue;
    TRY_ASSIGN(data.epochs[batch], read_file(file.path(), parse_validation));
  }
  if (data.epochs.empty()) {
    return invalid(fmt::format("{}: has no validation-BATCH.csv", folder.string()));
  }
  return data;
}

}  // namespace

Result<std::vector<StepTime>> parse_placements(std::string_view name, std::istream& in) {
  constexpr std::array<std::string_view, 4> kColumns = {"placement", "local_bsz", "step_time",
                                                        "sync_time"};
  TRY_ASSIGN(const auto rows, read_columns(name, in, kColumns));
  std::vector<StepTime> steps;
  for (const auto& row : rows) {
    // A digit for each node: 31 is three replicas on one and one on another.
    int nodes = 0;
    int replicas = 0;
    for (auto rest = static_cast<std::int64_t>(std::min(row[0], 1e18)); rest > 0; rest /= 10) {
      ++nodes;
      replicas += static_cast<int>(rest % 10);
    }
    TRY_ASSIGN(const StepTime step, step_of(name, nodes, replicas, row[1], row[2], row[3]));
    steps.push_back(step);
  }
  return steps;
}

Result<std::vector<StepTime>> parse_scalability(std::string_view name, std::istream& in) {
  constexpr std::array<std::string_view, 5> kColumns = {"num_nodes", "num_replicas", "local_bsz",
                                                        "step_time", "sync_time"};
  TRY_ASSIGN(const auto rows, read_columns(name, in, kColumns));
  std::vector<StepTime> steps;
  for (const auto& row : rows) {
    TRY_ASSIGN(const StepTime step, step_of(name, row[0], row[1], row[2], row[3], row[4]));
    steps.push_back(step);
  }
  return steps;
}

Result<std::vector<Goodput::Epoch>> parse_validation(std::string_view name, std::istream& in) {
  constexpr std::array<std::string_view, 3> kColumns = {"iteration", "grad_sqr", "grad_var"};
  TRY_ASSIGN(const auto rows, read_columns(name, in, kColumns));
  std::vector<Goodput::Epoch> epochs;
  for (const auto& row : rows) {
    if (!epochs.empty() && row[0] < epochs.back().iteration) {
      return invalid(fmt::format("{}: iterations must rise from row to row", name));
    }
    epochs.push_back({row[0], {row[1], row[2]}});
  }
  return epochs;
}

Result<std::map<std::string, TrainingData>> read_training_data(const std::string& folder) {
  std::map<std::string, TrainingData> models;
  std::error_code problem;
  fs::directory_iterator list(folder, problem);
  if (problem) return Error{Code::NotFound, fmt::format("{}: is no folder to read", folder)};
  for (const auto& entry : list) {
    if (!entry.is_directory(problem)) continue;
    TRY_ASSIGN(models[entry.path().filename().string()], read_model(entry.path()));
  }
  if (models.empty()) {
    return invalid(fmt::format("{}: holds no folder of a model, such as resnet50/", folder));
  }
  return models;
}

Goodput goodput_of(const TrainingData& data) {
  const auto [least, most] = std::ranges::minmax_element(data.steps, {}, &StepTime::local_batch);
  return {fit_step_model(data.steps),
          {.local_min = least->local_batch, .local_max = most->local_batch},
          data.epochs};
}

}  // namespace orrery
