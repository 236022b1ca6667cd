#pragma once

#include <span>

#include "model/job.h"

namespace orrery {

// Iterations a second on this many GPUs; 0 where the job cannot run. Every job runs on the GPUs it
// asked for, a rigid one on nothing else.
double speed_on(const Workload& workload, const JobSpec& job, int gpus);

// The same where the GPUs are spread over several nodes and that was measured.
double speed_on(const Workload& workload, const JobSpec& job, int gpus, int nodes);

// The count beyond which more GPUs bring nothing: the smallest with the greatest speed.
int knee(const SpeedCurve& curve);

}  // namespace orrery
