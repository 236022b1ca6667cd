#pragma once

#include "base/result.h"
#include "model/job.h"

namespace orrery {

// The jobs of both, in order of submission; at one instant those of `first` come before those of
// `second`. Called what `first` is called. A name that both have is an error.
Result<Workload> merged(const Workload& first, const Workload& second);

}  // namespace orrery
