#pragma once

#include "base/result.h"
#include "training/trainer/worker/gang.h"

namespace orrery {

// A rank of a gang other than 0: starts the workers that the head asks of it, and ends as the run
// ends. It leaves signals to the head, which every rank's scheduler also stops.
Status run_gang_member(const GangPlace& place);

}  // namespace orrery
