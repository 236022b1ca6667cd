#pragma once

#include <atomic>
#include <functional>
#include <span>
#include <string>

#include "experiments/star/results.h"

namespace orrery {

struct RunMatrixOptions {
  std::string program{};  // orrery-train
  std::string folder{};   // results are kept here, one folder a run; those there are not run again
  std::string data_folder{};  // what is trained on; empty: where the trainer looks by itself
  int tries = 2;              // of a run during which the machine was too busy to trust it
  int at_once = 1;            // each run says itself whether it had what it needs
};

// Runs what is not there yet, in the order of the runs. Ends early, with what there is, when
// `stop` is set. A run that fails is a result with its problem; it is tried again the next time.
// `done` is called for each run that is over, by one thread at a time.
Result<RunResults> run_matrix(std::span<const MatrixRun> runs, const RunMatrixOptions& options,
                              const std::atomic<bool>& stop,
                              const std::function<void(const MatrixRun&)>& done);

}  // namespace orrery
