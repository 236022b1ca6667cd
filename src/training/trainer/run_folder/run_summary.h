#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "base/result.h"
#include "training/emulation/servers.h"
#include "training/sync/conductor.h"
#include "training/trainer/checkpoint/checkpoint.h"
#include "training/trainer/run_folder/run_log.h"

namespace orrery {

// What is counted over all sessions of a run.
struct RunTally {
  ConductorCounts counts{};  // of sessions that are over
  std::int64_t deaths = 0;   // of workers, while they were wanted
  std::int64_t restarts = 0;
  std::int64_t refused_connections = 0;
  std::int64_t evaluations_skipped = 0;
  std::int64_t checkpoints = 0;
  std::int64_t rings_on_gpus = 0;
  double steer_cpu_s = 0;         // of directors of sessions that are over
  std::int64_t limits_moved = 0;  // by the servers that are shared
  std::vector<std::string> warnings{};
  std::vector<CurvePoint> curve{};
  std::vector<ModeChange> modes{};
  std::string reason{};  // why it ended
};

struct RunSummary {
  RunTally tally{};
  ConductorCounts counts{};  // of all sessions
  double target = 0;
  int target_over = TargetWatch::kOver;
  double training_s = 0;                 // since the first task, earlier sessions included
  double wall_s = 0;                     // of this process
  int workers = 0;                       // at the end
  double steer_cpu_s = 0;                // of all sessions
  std::optional<double> worker_cpu_s{};  // one worker's, on average
  std::optional<Judgement> best{};       // evaluation; with a folder: of the model that is kept
  std::string cpu_means = "none", link_means = "none";
  MachineLoad load{};
  bool measured_load = false;
  std::string folder{};
  Status kept{};  // an error if the run did not leave the checkpoint that it promised
};

ConductorCounts operator+(const ConductorCounts& a, const ConductorCounts& b);

// One JSON object; what has no meaning in the run is null.
std::string summary_json(const RunSummary& summary);
std::string summary_text(const RunSummary& summary);

}  // namespace orrery
