#pragma once

#include <functional>
#include <string>

#include "base/result.h"
#include "live/api/job_request.h"

namespace orrery {

// Puts into requests what the profiles at `path`, read once, know of the model they name: MODEL, or
// MODEL:BATCH where it was measured with several batches. `gpu_type` is the one that is meant where
// a request names none. A request that names no model is left as it is; one that names a model
// that was not measured, or an elastic one on a number of GPUs that was not, is refused.
Result<std::function<Status(JobRequest&)>> profile_finder(const std::string& path,
                                                          const std::string& gpu_type);

}  // namespace orrery
