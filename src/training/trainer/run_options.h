#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "base/result.h"
#include "training/libtorch/learner.h"
#include "training/sync/director.h"
#include "training/sync/rate.h"
#include "training/sync/target_watch.h"
#include "training/trainer/shard/flat_optimizer.h"

namespace orrery {

// The options of `orrery-train run`. They are kept in the run's folder, so that naming that folder
// is enough to resume a run.
struct RunOptions {
  std::string arch = "ps";  // or "allreduce"
  int workers = 2;
  int workers_most = 0;  // to which the run may be resized; 0: as many as at first
  bool anyway = false;   // more workers than cores and memory of the machine allow
  int shards = 1;
  std::string mode = "ssgd";
  int x = 0;
  std::string
      predictor{};  // of star: a file that `predictor fit` made; empty: none but the built-in
  std::string selector = "learned";       // of star: where it predicts better; or "heuristic"
  std::vector<std::string> experience{};  // of star: folders of earlier runs to learn from
  LearnerOptions learner{};
  std::int32_t batch = 256;  // global
  int blocks = 0;            // of a task; 0: as the mode needs
  double rate = 0.1;
  std::string rate_scaling = "none";
  std::int64_t warm_up = 0;               // samples
  std::vector<std::string> rate_steps{};  // SAMPLES:FACTOR
  OptimizerOptions optimizer{};

  double target = 0;
  int target_over = TargetWatch::kOver;  // evaluations, whose mean has to be there
  std::int64_t steps = 0;                // gradients
  std::string time_limit{};              // a duration
  std::int64_t evaluate_every = 0;       // samples; 0: twenty batches
  std::int64_t checkpoint_every = 0;     // samples; 0: only when it is stopped
  int keep = 3;
  bool replace = false;
  int spoiled_most = 100;  // gradients in a row that cannot be used, before the run fails; 0: any

  std::string stragglers{};
  std::uint64_t straggler_seed = 0;  // 0: the run's
  double cores = 0;                  // of each server; 0: no quota, unless stragglers need one
  double link = 0;                   // bytes a second of each server; 0: no limit
  double shard_cores = 0;            // of each shard; 0: what workers leave
  double shard_link = 0;             // of each shard; 0: as wide as all workers' together
  std::string tree = "auto";         // where links have limits, or "never"
  std::string servers{};             // the folder of servers that are shared; empty: its own
  std::string cpu_means = "auto", link_means = "auto";
  double ring_patience_s = 60;
  double silence_s = 10;  // without a heartbeat, until a worker is replaced

  std::string trace_steps{};  // file to write: docs/formats/step-trace.md; empty: none

  // Its shards, evaluator and workers come by themselves, and a member leads it: `member`.
  bool members = false;
  std::string holder{};    // of the lease by which this head leads a run with members
  std::int64_t epoch = 0;  // of that lease; 0: there is none

  std::string listen = "127.0.0.1";  // where workers that join by themselves find the head
  std::string folder{};
  std::string resume{};
  std::string from = "last";  // which checkpoint a resumed run goes on from; or "best"
  bool json = false, quiet = false;
  int gpus = 0;  // of a job of the scheduler's, at its first start; 0: none, or it is no job
};

// What was left open, as it is here: the data folder is ./build/data where that is a folder. Named
// in full, since the run may be resumed from elsewhere.
RunOptions completed(RunOptions options);

// Errors name the flag and say what to write instead.
Status check(const RunOptions& options);

Architecture architecture(const RunOptions& options);
bool emulates_servers(const RunOptions& options);
// After how many a run ends, by its steps; 0: does not. A step is a gradient, and the mean gradient
// is a worker's part of the batch.
std::int64_t samples_limit(const RunOptions& options);
// With as many GPUs as now: as many for each as at the first start, and one sample for each.
int workers_for(const RunOptions& options, int gpus_now);
Result<RateRule> rate_rule(const RunOptions& options);
Result<double> time_limit_s(const RunOptions& options);  // 0: none

std::string run_options_text(const RunOptions& options);
Result<RunOptions> parse_run_options(const std::string& text);

}  // namespace orrery
