#pragma once

#include "model/grant.h"
#include "model/job.h"

namespace orrery {

// The GPU seconds of one iteration: the unit in which work on any number of GPUs adds up. By the
// job's curve, what one GPU takes for it. For a job without a curve, or whose curve does not say,
// the GPUs asked for times what they take. Without a workload no job has a curve.
double gpu_s_of_iteration(const Workload* workload, const JobSpec& spec);

// Iterations a second under a grant: by the curve where the job has its devices to itself and the
// curve says, otherwise what the grant counts on. 0: not known.
double iterations_per_s(const Workload* workload, CurveId curve, const Grant& grant);

}  // namespace orrery
