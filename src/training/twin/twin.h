#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "training/emulation/straggler_script.h"
#include "training/result/training_result.h"
#include "training/sync/conductor.h"
#include "training/twin/convergence.h"

namespace orrery {

// What one worker takes for a task, and its network. A rate of 0 is no limit.
struct TwinWorker {
  double fixed_s = 0;       // of CPU, for each task
  double per_sample_s = 0;  // of CPU
  double bytes_per_s = 0;   // of its link, either way
  double latency_s = 0;     // added to what it sends
  double block_s = 0;       // of CPU, for each block of a task after its first
  double cores = 0;         // an emulated server's quota, whose periods are felt; 0: CPU is a fluid
  double burst_s = 0;       // what its link brings in this time goes through at once
};

// The parameter servers as one: all shards work alike and at the same time.
struct TwinShards {
  double gradient_s = 0;    // of work for each gradient, one after the other
  double update_s = 0;      // for each update
  double bytes_per_s = 0;   // of all their links together, either way
  bool on_workers = false;  // every worker's server holds a shard, and each worker needs them all
};

struct TwinChange {  // of membership
  Time at{};
  int worker = 0;
  bool joins = false;  // otherwise it dies
};

struct TwinSetup {
  ConductorOptions conductor{};  // its workers_first is set to the number of workers
  Mode mode{};                   // the first one, and the only one without a director
  std::vector<TwinWorker> workers{};
  TwinShards shards{};
  double parameter_bytes = 0;
  double message_s = 0;             // all-reduce: of each message of a sum, beside its bytes,
  double sum_work_s = 0;            // and of CPU, for each member's part of the sum
  double jitter = 0;                // deviation of a task's time, as a share of it
  double latency_factor = 2;        // an iteration lasts longer by this times its path's latency,
  double latency_square_per_s = 0;  // and this times its square: what windows make of it
  StragglerScript script{};         // server i is worker i's
  ConvergenceModel convergence{};
  std::vector<TwinChange> changes{};  // ascending
  Duration horizon = std::chrono::hours(24);
  std::uint64_t seed = 1;
};

struct TwinPoint {
  double time_s = 0;
  std::int64_t samples = 0;
  double accuracy = 0, loss = 0;
  double staleness = 0;  // mean since the point before
  std::string mode{};
};

// Its wall_s is of the run's time, from the first task on.
struct TwinResult : TrainingResult {
  std::int64_t max_staleness = 0;
  std::vector<std::int64_t> gradients_of{};  // applied, by worker
  std::vector<TwinPoint> curve{};
  std::int64_t events = 0;
};

// A training run without the training: workers that take as long as they are said to, links that
// are shared as links are, and a model of what gradients bring, under the same Conductor and
// Director as real processes. The same setup gives the same result to the last bit.
TwinResult run_twin(const TwinSetup& setup, std::unique_ptr<Director> director = nullptr);

}  // namespace orrery
