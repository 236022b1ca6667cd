#pragma once

#include <compare>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "base/result.h"
#include "cloud/measurements/server_table.h"
#include "cloud/measurements/table.h"

namespace orrery {

// Every published training ran for this many steps of all workers together.
inline constexpr std::int64_t kTrainingSteps = 64'000;

struct EvaluatedResult {
  double duration_s = 0;
  double accuracy = 0;  // from 0 to 1
};

// A row of a table with a value a run, and where it stands.
struct PublishedResult : EvaluatedResult {
  std::int64_t line = 0;
};
struct PublishedCost {
  double usd = 0;
  std::int64_t line = 0;
};

// One run: what the evaluator saw, and what the authors made of it.
struct EvaluatedRun {
  RunKey key;
  std::vector<SeriesPoint> evaluations{};      // train_data.csv; the value is the accuracy
  std::optional<PublishedResult> published{};  // train_data_processed.csv
  std::optional<PublishedCost> cost{};         // cost.csv
  bool aggregated = false;                     // True if agg_data.csv lists it
};

// From the last evaluation at step 0 before any progress to the first at kTrainingSteps or later;
// nothing if it has not come that far. After the authors' train_data_processor.
std::optional<EvaluatedResult> result_of(const std::vector<SeriesPoint>& evaluations);

// The runs of one configuration.
struct TrainingFolder {
  std::string path;
  std::string config;                      // the last two folders of the path: "k80_spot/8-spot"
  std::vector<EvaluatedRun> runs{};        // those of the processed file first, in its order
  std::vector<MeasuredServer> servers{};   // vm_data.csv; empty: there is none
  std::vector<MeasuredServer> database{};  // the SQLite file; empty: there is none
  std::string costs_path{}, results_path{}, servers_path{}, database_path{};  // empty: none
};

// Reads a folder as it was published. A file that is not there is no error, but
// train_data_processed.csv is needed.
Result<TrainingFolder> read_training_folder(const std::string& path);

}  // namespace orrery
