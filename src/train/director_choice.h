#pragma once

#include <memory>

#include "base/result.h"
#include "sync/director.h"
#include "train/run_log.h"
#include "train/run_options.h"

namespace orrery {

// Who decides about the mode of a run, and in which it begins. With a fixed mode nobody does; what
// the director is told is written to the log in any case.
struct Direction {
  Mode mode{};
  bool fixed = false;
  std::unique_ptr<Director> director{};
};
Result<Direction> choose_direction(const RunOptions& options, RunLog* log);

// Parts in which a task is computed: more than one only where a mode may cut it off.
int blocks_for(const RunOptions& options);

}  // namespace orrery
