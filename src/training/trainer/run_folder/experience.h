#pragma once

#include <string>
#include <vector>

#include "base/result.h"
#include "training/trainer/head/director_choice.h"
#include "training/trainer/run_options.h"
#include "training/trainer/transport/part.h"

namespace orrery {

// What the folders of earlier runs hold for the learned selector, in the order in which they are
// named. A window says what a mode brought in the time of one global batch under SSGD, over the
// loss; that depends on what is trained, with which batch and optimizer, and all else is a feature
// or cancels out. So a run that differs from `like` in these is an error.
Result<SelectorExperience> read_experience(const std::vector<std::string>& folders,
                                           const RunOptions& like);

// The options of a run, from its folder.
Result<RunOptions> read_run_options(const std::string& folder);

// With what the learned selector of a run begins; with nothing, if it has none.
Result<SelectorStart> selector_start(const RunOptions& options, const TrainPorts& ports);

}  // namespace orrery
