#pragma once

#include <nlohmann/json_fwd.hpp>

#include "live/api/job_request.h"

namespace orrery {

// From an object that has been parsed already. Keys it does not know are passed over.
Result<JobRequest> read_job_request(const nlohmann::json& object);

}  // namespace orrery
