#pragma once

#include <string>
#include <vector>

#include "base/result.h"
#include "report/listing/list_arguments.h"
#include "training/trainer/transport/part.h"

namespace orrery {

struct SelectorArguments {
  std::vector<std::string> folders{};  // of runs
  ListArguments list{};
};

// What the learned selector is worth on logged runs of one training: for each, with what was
// learned from the others (for a single one: on its newest quarter, with the rest), how far off the
// regression is, beside the heuristic and beside always saying the mean; and which of
// them would decide in a run that began with all of them. A table.
Status selector_score_command(const SelectorArguments& arguments, const TrainPorts& ports);

}  // namespace orrery
