#pragma once

#include <span>
#include <vector>

#include "training/emulation/straggler_script.h"
#include "training/twin/curves.h"
#include "training/twin/twin.h"

namespace orrery {

// What emulated servers a run was on.
struct RunServers {
  double cores = 0;        // each one's quota
  double bytes_per_s = 0;  // each one's link; 0: no limit
  double burst_s = 0;
  StragglerScript script{};
  int blocks = 1;           // of each task
  bool all_reduce = false;  // nothing travels within a task; after it comes a sum,
  double sum_work_s = 0;    // which is that much work more
};

// What a worker's tasks cost it, in seconds at its whole share without rest.
struct TaskWork {
  double samples = 0;  // mean
  int blocks = 1;
  double work_s = 0;  // mean
  int tasks = 0;
  int run = 0;  // which one it was seen in
};
// For each worker of a run: the work with which an emulated server, given the rests it had, takes
// as long for its tasks as was measured. `shape` says how tasks of unequal samples compare; only
// the ratio of its fixed_s and per_sample_s counts. In all-reduce it is what they used of their
// CPU. Workers with too few tasks are left out, and those whose tasks felt that their link was cut.
std::vector<TaskWork> measured_work(const TrainingRun& run, const RunServers& servers,
                                    const TwinWorker& shape = {.per_sample_s = 1});

// fixed_s, per_sample_s and block_s that come nearest; what the points do not differ in is left at
// 0.
TwinWorker fit_work(std::span<const TaskWork> points);

// What each message of a run's sums took beside its bytes and its work (sum_work_s), while
// all had their whole share: of an all-reduce run whose ring was all of its workers all the time,
// and no link was cut.
std::vector<double> measured_messages(const TrainingRun& run, const RunServers& servers,
                                      double parameter_bytes);

// What each sum of such a run cost a member, in seconds at its whole share: of what one worker used
// of its CPU in all, whatever was not used within tasks.
double measured_sum_work(const TrainingRun& run, const RunServers& servers, double worker_cpu_s);

}  // namespace orrery
