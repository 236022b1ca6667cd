#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "experiments/twin_fit/twin_model.h"
#include "training/result/training_result.h"
#include "training/twin/pace.h"

namespace orrery {

// A real run that the twin is fitted to or held against: a folder of `orrery reproduce star`, with
// result.json and run/, or the run's folder alone (docs/formats/training-run.md).
struct MeasuredRun {
  std::string name{};  // the folder's
  std::string cell{};  // what it shares with runs in other modes: its name without the mode's
  std::string mode{};
  int x = 0;
  std::string architecture = "ps";
  int workers = 0;
  std::int32_t batch = 0;
  double rate = 0.1, momentum = 0, target = 0;
  int target_over = TargetWatch::kOver;  // evaluations
  std::int64_t evaluate_every = 0;       // samples; 0: twenty batches
  std::int64_t steps = 0;
  TrainingRun run{};
  RunServers servers{};
  std::vector<TaskWork> work{};

  double interval_s = 0;  // between updates
  TrainingResult result{};
  std::string not_trusted{};  // why its figures are not to be used

  bool unequal = false;  // tasks were not all of the same number of samples

  double target_s() const { return result.time_to_target_s.value_or(-1); }  // -1: not reached
};
Result<MeasuredRun> read_measured_run(const std::string& folder);

// What a model takes and how it learns, from runs of it.
struct ModelFit {
  TwinModel model{};
  int points = 0;
  double accuracy_error = 0;
};
// Tasks cost what they do in runs of this architecture, if there are any: with parameter servers
// they end with sending, in a ring the sum comes after them.
Result<ModelFit> fit_model(std::span<const MeasuredRun* const> runs, const TwinModel& from,
                           const std::string& architecture = "ps");

}  // namespace orrery
