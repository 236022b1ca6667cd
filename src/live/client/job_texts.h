#pragma once

#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/result.h"
#include "live/api/job_request.h"

// How people write what a job needs. Every refusal says what to write instead.

namespace orrery {

Result<int> parse_whole(std::string_view text, int least, int most);

// "8", "0.5": thousandths of a CPU.
Result<std::int64_t> parse_cpus(std::string_view text);

// "500M", "16G", "1.5T": times 1024 each; "16GB": times 1000. A bare number could mean anything, so
// it is refused.
Result<std::int64_t> parse_memory(std::string_view text);

// The shortest of these that says it to three digits: "16G", "1.50T".
std::string memory_text(std::int64_t bytes);

// "1..8"
Result<std::pair<int, int>> parse_elastic(std::string_view text);

// "1-100", "1,3,5-9", "0-100:10" (every tenth): at most kArrayMax numbers, none twice.
Result<std::vector<int>> parse_array(std::string_view text);

// "USR1@60s", "SIGTERM@2m", "10@90": a signal, and how long ahead of the time limit it is sent. A
// bare signal is sent 60 s ahead, as by sbatch.
Result<std::pair<int, Duration>> parse_early_signal(std::string_view text);

// "17" or "17-20" or "17,19-20": numbers of jobs, at most kArrayMax of them.
Result<std::vector<JobNumber>> parse_job_numbers(std::string_view text);

}  // namespace orrery
