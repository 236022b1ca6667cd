#include "cloud/measurements/training_folder.h"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <system_error>
#include <utility>

#include "base/files.h"

namespace orrery {
namespace {

namespace fs = std::filesystem;

constexpr int kRunMax = 1'000'000;
constexpr double kDuration_s_max = 1e9;
constexpr double kCost_usd_max = 1e9;

// Zone and run stand in each table, the zone only where a campaign had several.
Result<RunKey> key_of(const Row& row, std::size_t zone, std::size_t run) {
  RunKey key;
  if (row.given(zone)) {
    auto plain = zone_without_prefix(row[zone]);
    if (!plain.ok()) return row.wrong(zone, plain.error().message);
    key.zone = std::move(plain).value();
  }
  TRY_ASSIGN(const std::int64_t number, row.integer(run, 0, kRunMax));
  key.run = static_cast<int>(number);
  return key;
}

class FolderReader {
 public:
  explicit FolderReader(const std::string& path) {
    folder_.path = path;
    const fs::path plain = fs::path(path).lexically_normal();
    folder_.config = (plain.parent_path().filename() / plain.filename()).generic_string();
  }

  Result<TrainingFolder> read() {
    TRY(list_files());
    TRY(read_results());
    TRY(read_costs());
    TRY(read_aggregate());
    TRY(read_evaluations());
    if (!folder_.servers_path.empty()) {
      TRY_ASSIGN(folder_.servers, read_server_table(folder_.servers_path));
    }
    if (!folder_.database_path.empty()) {
      TRY_ASSIGN(folder_.database, read_cluster_status(folder_.database_path));
    }
    return std::move(folder_);
  }

 private:
  Status list_files() {
    std::error_code problem;
    for (const auto& entry : fs::directory_iterator(folder_.path, problem)) {
      const std::string name = entry.path().filename().string(), path = entry.path().string();
      if (name.ends_with("train_data.csv")) {
        if (!evaluations_path_.empty()) {
          return invalid(fmt::format("{}: there is also {}; keep one of them", path,
                                     fs::path(evaluations_path_).filename().string()));
        }
        evaluations_path_ = path;
      }
      if (name == "train_data_processed.csv") folder_.results_path = path;
      if (name == "cost.csv") folder_.costs_path = path;
      if (name == "agg_data.csv") aggregate_path_ = path;
      if (name == "vm_data.csv") folder_.servers_path = path;
      if (name.ends_with(".db")) folder_.database_path = path;
    }
    if (problem) return system_error(folder_.path, problem.value());
    if (folder_.results_path.empty()) {
      return Error{Code::NotFound, folder_.path +
                                       ": holds no train_data_processed.csv; give a folder of the "
                                       "published runs"};
    }
    return {};
  }

  EvaluatedRun* find(const RunKey& key) {
    const auto found = std::ranges::find(folder_.runs, key, &EvaluatedRun::key);
    return found == folder_.runs.end() ? nullptr : &*found;
  }

  Status read_results() {
    static constexpr std::string_view kColumns[] = {"Zone", "Run", "Duration", "Accuracy"};
    static constexpr std::size_t kRequired[] = {1, 2, 3};
    return for_each_row(folder_.results_path, kColumns, kRequired, [&](const Row& row) -> Status {
      TRY_ASSIGN(EvaluatedRun run, run_of(row));
      if (find(run.key) != nullptr) return row.wrong("this run stands in an earlier row too");
      folder_.runs.push_back(std::move(run));
      return {};
    });
  }

  static Result<EvaluatedRun> run_of(const Row& row) {
    EvaluatedRun run;
    TRY_ASSIGN(run.key, key_of(row, 0, 1));
    PublishedResult result;
    TRY_ASSIGN(result.duration_s, row.number(2, 0, kDuration_s_max));
    TRY_ASSIGN(result.accuracy, row.number(3, 0, 1));
    result.line = row.line();
    run.published = result;
    return run;
  }

  Status read_costs() {
    if (folder_.costs_path.empty()) return {};
    static constexpr std::string_view kColumns[] = {"Zone", "Run", "Cost"};
    static constexpr std::size_t kRequired[] = {1, 2};
    return for_each_row(folder_.costs_path, kColumns, kRequired, [&](const Row& row) -> Status {
      TRY_ASSIGN(const RunKey key, key_of(row, 0, 1));
      TRY_ASSIGN(const double usd, row.number(2, 0, kCost_usd_max));
      EvaluatedRun* run = find(key);
      if (run == nullptr) return no_such_run(row, key);
      run->cost = PublishedCost{usd, row.line()};
      return {};
    });
  }

  Status read_aggregate() {
    if (aggregate_path_.empty()) return {};
    static constexpr std::string_view kColumns[] = {"Zone", "Run"};
    static constexpr std::size_t kRequired[] = {1};
    return for_each_row(aggregate_path_, kColumns, kRequired, [&](const Row& row) -> Status {
      TRY_ASSIGN(const RunKey key, key_of(row, 0, 1));
      EvaluatedRun* run = find(key);
      if (run == nullptr) return no_such_run(row, key);
      run->aggregated = true;
      return {};
    });
  }

  Error no_such_run(const Row& row, const RunKey& key) const {
    return row.wrong(fmt::format("run {}{}{} is not in train_data_processed.csv", key.zone,
                                 key.zone.empty() ? "" : " ", key.run));
  }

  Status read_evaluations() {
    if (evaluations_path_.empty()) return {};
    static constexpr std::string_view kColumns[] = {"Wall Time", "Step", "Accuracy", "Zone", "Run"};
    static constexpr std::size_t kRequired[] = {0, 1, 2, 4};
    return for_each_row(evaluations_path_, kColumns, kRequired, [&](const Row& row) -> Status {
      TRY_ASSIGN(const RunKey key, key_of(row, 3, 4));
      TRY_ASSIGN(const SeriesPoint point, evaluation_of(row));
      EvaluatedRun* run = find(key);
      if (run == nullptr) run = &folder_.runs.emplace_back(EvaluatedRun{.key = key});
      run->evaluations.push_back(point);
      return {};
    });
  }

  static Result<SeriesPoint> evaluation_of(const Row& row) {
    SeriesPoint point;
    TRY_ASSIGN(point.at_s, row.number(0, 0, kStamp_s_max));
    TRY_ASSIGN(point.step, row.integer(1, 0, kStepMax));
    TRY_ASSIGN(point.value, row.number(2, 0, 1));
    return point;
  }

  TrainingFolder folder_{};
  std::string evaluations_path_{};
  std::string aggregate_path_{};
};

}  // namespace

std::optional<EvaluatedResult> result_of(const std::vector<SeriesPoint>& evaluations) {
  std::optional<double> start_s;
  for (const SeriesPoint& point : evaluations) {
    if (point.step > 0) break;
    start_s = point.at_s;
  }
  const auto end = std::ranges::find_if(
      evaluations, [](const SeriesPoint& point) { return point.step >= kTrainingSteps; });
  if (!start_s || end == evaluations.end()) return std::nullopt;
  return EvaluatedResult{end->at_s - *start_s, end->value};
}

Result<TrainingFolder> read_training_folder(const std::string& path) {
  return FolderReader(path).read();
}

}  // namespace orrery
