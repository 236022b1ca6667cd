#pragma once

#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "live/client/job_draft.h"

namespace orrery {

// The jobs of a job file (docs/formats/job-file.md), in the order in which they can be submitted:
// a job that an `after` names comes before the one with the `after`. There is at least one. Errors
// are "file:line: what is wrong".
Result<std::vector<JobDraft>> parse_job_file(std::string_view file, std::string_view text);
// "-" is standard input.
Result<std::vector<JobDraft>> read_job_file(const std::string& path,
                                            const std::function<Result<std::string>()>& read_input);

}  // namespace orrery
