#pragma once

#include <string>

#include "base/output_file.h"
#include "base/result.h"
#include "experiments/sweep/sweep_journal.h"
#include "experiments/sweep/sweep_plan.h"

namespace orrery {

// The files that the runs read. What is no file (a generator, 16x8) is not among them.
std::vector<NamedFile> sweep_inputs(const SweepPlan& plan);

// A line for everything that decides the results: the version, the content of every file, the
// settings of every run.
Result<std::string> sweep_identity(const SweepPlan& plan);

struct SweepRunsOptions {
  int threads = 0;  // 0: one a core
  bool progress = true;
};

// Makes the runs that the journal lacks, several at a time. Each trace is read or generated once
// for the runs that share it, which are made one after the other. Before any run, each trace,
// cluster and policy is tried. Ctrl-C ends it after the runs that are finished: true.
Result<bool> make_sweep_runs(const SweepPlan& plan, SweepJournal& journal,
                             const SweepRunsOptions& options);

}  // namespace orrery
