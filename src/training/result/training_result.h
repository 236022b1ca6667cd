#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "base/result.h"
#include "training/emulation/servers.h"
#include "training/sync/conductor.h"

namespace orrery {

// One evaluation on the test set.
struct EvaluatedVersion {
  double at_s = 0;  // when the version was made
  ParameterVersion version = 0;
  std::int64_t samples = 0;
  double accuracy = 0;
  double loss = 0;
};

struct ModeChange {
  double at_s = 0;
  std::string mode{};
  std::string reason{};
};

// What is counted over all sessions of a run.
struct RunTally {
  ConductorCounts counts{};
  std::int64_t deaths = 0;  // of workers, while they were wanted
  std::int64_t restarts = 0;
  std::int64_t refused_connections = 0;
  std::int64_t evaluations_skipped = 0;
  std::int64_t checkpoints = 0;
  std::int64_t rings_on_gpus = 0;
  std::int64_t limits_moved = 0;  // by the servers that are shared
  double director_cpu_s = 0;      // of the thread that chooses modes, its predictors included
  std::vector<std::string> warnings{};
  std::vector<ModeChange> modes{};
  std::string ended{};  // why
};

ConductorCounts operator+(const ConductorCounts& a, const ConductorCounts& b);

// What a training run came to. `orrery-train run --json` prints it, experiments
// read it back.
struct TrainingResult {
  RunTally tally{};
  double target = 0;  // accuracy; 0: none. Not in the JSON
  int target_over = TargetWatch::kOver;
  std::optional<double> time_to_target_s{};  // none: not reached
  std::optional<double> final_accuracy{}, final_loss{};
  std::optional<EvaluatedVersion> best{};  // evaluation; with a folder: of the model that is kept
  std::string best_file{};                 // empty: the model is not kept
  double training_s = 0;                   // since the first task, earlier sessions included
  double wall_s = 0;                       // of this process
  int workers = 0;                         // at the end
  std::optional<double> worker_cpu_s{};    // of one worker, on average
  std::string cpu_means = "none", link_means = "none";
  std::optional<MachineLoad> load{};  // where servers were emulated
  std::string folder{};
  std::string failure{};  // not empty: the run did not leave what it promised

  double mean_staleness() const;
  // False if the machine was too busy for the times to mean anything.
  bool trusted() const { return !load || load->trusted; }
  // "cpu cgroup-v1, link tbf": how servers were emulated; "none".
  std::string injector() const;
  // Of CPU that the workers spent on a gradient: the machine's speed shows in
  // it.
  double task_cpu_s() const;
};

// One JSON object; what has no meaning in the run is null. Reading it back
// gives the same, but for the target. Text that is no such object is an error.
std::string training_result_json(const TrainingResult& result);
Result<TrainingResult> parse_training_result(const std::string& json);
std::string training_result_text(const TrainingResult& result);

}  // namespace orrery
