#include "training/step_trace/recorded_steps.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <unordered_map>

namespace orrery {
namespace {

constexpr double kMissing = std::numeric_limits<double>::quiet_NaN();

struct OperationKey {
  OperationKind kind{};
  int stage = 0;
  int sequence = 0;
  bool operator==(const OperationKey&) const = default;
};

struct KeyHash {
  std::size_t operator()(const OperationKey& key) const {
    const std::uint64_t packed = (static_cast<std::uint64_t>(key.sequence) << 24) ^
                                 (static_cast<std::uint64_t>(key.stage) << 8) ^ index(key.kind);
    return std::hash<std::uint64_t>{}(packed * 0x9E3779B97F4A7C15u);
  }
};

OperationKey key_of(const StepOperation& operation) {
  return {operation.kind, operation.stage, operation.sequence};
}

std::string text(const StepOperation& operation) {
  return fmt::format("{} {} of stage {}", traits(operation.kind).name, operation.sequence,
                     operation.stage);
}

// Puts the operations of one trace into their places.
class Arrangement {
 public:
  Arrangement(const StepTrace& trace, const TrainingShape& shape) : trace_(trace) {
    recorded_.name = trace.name;
    recorded_.shape = shape;
  }

  Result<RecordedSteps> make() && {
    TRY(check_shape());
    find_steps();
    TRY(find_operations());
    TRY(fill());
    TRY(check_complete());
    align();
    return std::move(recorded_);
  }

 private:
  Error wrong(std::size_t operation, std::string_view what) const {
    return invalid(fmt::format("{}:{}: {}", trace_.name, trace_.lines[operation], what));
  }
  Error wrong_file(std::string_view what) const {
    return invalid(fmt::format("{}: {}", trace_.name, what));
  }

  Status check_shape();
  void find_steps();
  Status find_operations();
  Status fill();
  Status check_complete() const;
  void align();
  std::size_t lane_of(const StepOperation& operation) const;

  const StepTrace& trace_;
  RecordedSteps recorded_{};
  std::unordered_map<OperationKey, std::size_t, KeyHash> row_of_{};
};

Status Arrangement::check_shape() {
  const TrainingShape& shape = recorded_.shape;
  std::vector<char> worker_seen(recorded_.workers()), stage_seen(recorded_.stages());
  for (std::size_t i = 0; i < trace_.operations.size(); ++i) {
    const StepOperation& operation = trace_.operations[i];
    if (operation.worker >= shape.workers) {
      return wrong(
          i, fmt::format("dp_rank is {}, but dp_size is {}", operation.worker, shape.workers));
    }
    if (operation.stage >= shape.stages) {
      return wrong(i, fmt::format("stage is {}, but pp_size is {}", operation.stage, shape.stages));
    }
    worker_seen[static_cast<std::size_t>(operation.worker)] = 1;
    stage_seen[static_cast<std::size_t>(operation.stage)] = 1;
  }
  const auto no_worker = std::ranges::find(worker_seen, 0);
  if (no_worker != worker_seen.end()) {
    return wrong_file(fmt::format("holds no operation of dp_rank {}, but dp_size is {}",
                                  no_worker - worker_seen.begin(), shape.workers));
  }
  const auto no_stage = std::ranges::find(stage_seen, 0);
  if (no_stage != stage_seen.end()) {
    return wrong_file(fmt::format("holds no operation of stage {}, but pp_size is {}",
                                  no_stage - stage_seen.begin(), shape.stages));
  }
  return {};
}

void Arrangement::find_steps() {
  std::vector<std::int64_t>& steps = recorded_.steps;
  for (const StepOperation& operation : trace_.operations) {
    if (steps.empty() || steps.back() != operation.step) steps.push_back(operation.step);
  }
  std::ranges::sort(steps);
  steps.erase(std::unique(steps.begin(), steps.end()), steps.end());
}

Status Arrangement::find_operations() {
  for (std::size_t i = 0; i < trace_.operations.size(); ++i) {
    const StepOperation& operation = trace_.operations[i];
    if (operation.worker != 0 || operation.step != recorded_.steps.front()) continue;
    if (!row_of_.emplace(key_of(operation), recorded_.operations.size()).second) {
      return wrong(i, fmt::format("{} occurs twice in step {} of dp_rank 0; remove one",
                                  text(operation), operation.step));
    }
    recorded_.operations.push_back(operation);
  }
  if (recorded_.operations.empty()) {
    return wrong_file(
        fmt::format("step {} holds no operation of dp_rank 0", recorded_.steps.front()));
  }
  return {};
}

std::size_t Arrangement::lane_of(const StepOperation& operation) const {
  const auto step = std::ranges::lower_bound(recorded_.steps, operation.step);
  return static_cast<std::size_t>(step - recorded_.steps.begin()) * recorded_.workers() +
         static_cast<std::size_t>(operation.worker);
}

// A short file never asks for much memory.
Status Arrangement::fill() {
  const std::size_t rows = recorded_.operations.size();
  const std::size_t lanes = recorded_.lanes();
  const std::size_t cells = trace_.operations.size();
  constexpr std::size_t kSlack = 8;
  if (rows > kSlack * cells / lanes || recorded_.workers() > cells / recorded_.stages()) {
    return wrong_file(fmt::format(
        "has {} rows, but {} operations of {} workers in {} steps need {}; leave out incomplete "
        "steps and workers",
        cells, rows, recorded_.shape.workers, recorded_.steps.size(), rows * lanes));
  }
  recorded_.starts = LaneValues(rows, lanes);
  recorded_.durations = LaneValues(rows, lanes);
  for (std::size_t row = 0; row < rows; ++row) {
    std::fill_n(recorded_.starts.of(row), lanes, kMissing);
  }
  constexpr int kNoRank = -1;
  recorded_.ranks.assign(recorded_.workers() * recorded_.stages(), kNoRank);
  for (std::size_t i = 0; i < trace_.operations.size(); ++i) {
    const StepOperation& operation = trace_.operations[i];
    const auto row = row_of_.find(key_of(operation));
    if (row == row_of_.end()) {
      return wrong(i, fmt::format("{} of dp_rank {} in step {} has no counterpart of dp_rank 0 in "
                                  "step {}; all workers and steps need the same operations",
                                  text(operation), operation.worker, operation.step,
                                  recorded_.steps.front()));
    }
    const std::size_t lane = lane_of(operation);
    double& start = recorded_.starts.of(row->second)[lane];
    if (!std::isnan(start)) {
      return wrong(i, fmt::format("{} occurs twice in step {} of dp_rank {}; remove one",
                                  text(operation), operation.step, operation.worker));
    }
    start = operation.start_s;
    recorded_.durations.of(row->second)[lane] = operation.duration_s;
    int& rank = recorded_.ranks[static_cast<std::size_t>(operation.worker) * recorded_.stages() +
                                static_cast<std::size_t>(operation.stage)];
    if (rank != kNoRank && rank != operation.rank) {
      return wrong(i, fmt::format("dp_rank {} at stage {} is rank {} here, but rank {} before",
                                  operation.worker, operation.stage, operation.rank, rank));
    }
    rank = operation.rank;
  }
  return {};
}

Status Arrangement::check_complete() const {
  for (std::size_t row = 0; row < recorded_.operations.size(); ++row) {
    const double* const starts = recorded_.starts.of(row);
    for (std::size_t lane = 0; lane < recorded_.lanes(); ++lane) {
      if (!std::isnan(starts[lane])) continue;
      return wrong_file(fmt::format(
          "step {} of dp_rank {} lacks {}, which dp_rank 0 has in step {}; leave out incomplete "
          "steps",
          recorded_.steps[lane / recorded_.workers()], lane % recorded_.workers(),
          text(recorded_.operations[row]), recorded_.steps.front()));
    }
  }
  return {};
}

void Arrangement::align() {
  std::vector<double> begins(recorded_.steps.size(), std::numeric_limits<double>::infinity());
  const std::size_t workers = recorded_.workers();
  for (std::size_t row = 0; row < recorded_.operations.size(); ++row) {
    const double* const starts = recorded_.starts.of(row);
    for (std::size_t lane = 0; lane < recorded_.lanes(); ++lane) {
      begins[lane / workers] = std::min(begins[lane / workers], starts[lane]);
    }
  }
  for (std::size_t row = 0; row < recorded_.operations.size(); ++row) {
    double* const starts = recorded_.starts.of(row);
    for (std::size_t lane = 0; lane < recorded_.lanes(); ++lane) {
      starts[lane] -= begins[lane / workers];
    }
  }
  for (std::size_t row = 0; row < recorded_.operations.size(); ++row) {
    recorded_.operations[row].start_s = recorded_.starts.of(row)[0];
  }
}

}  // namespace

TrainingShape shape_of(const StepTrace& trace) {
  TrainingShape shape;
  for (const StepOperation& operation : trace.operations) {
    shape.workers = std::max(shape.workers, operation.worker + 1);
    shape.stages = std::max(shape.stages, operation.stage + 1);
    shape.chunks_of_stage = std::max(shape.chunks_of_stage, operation.chunk + 1);
  }
  shape.world = std::int64_t{shape.workers} * shape.stages;
  return shape;
}

Result<RecordedSteps> arrange_steps(const StepTrace& trace, const TrainingShape& shape) {
  return Arrangement(trace, shape).make();
}

}  // namespace orrery
