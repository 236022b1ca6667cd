#pragma once

#include <cstdint>
#include <functional>
#include <string>

#include "base/result.h"
#include "model/time.h"

namespace orrery {

struct LogLimits {
  std::int64_t bytes = std::int64_t{1} << 30;  // of one log on disk; 0: no limit
  Duration age = std::chrono::hours(24 * 30);  // since it was last written to; 0: kept for ever
};

// Frees the beginning of a log, so that at most `most` bytes and a block of it stay on disk, once
// it takes an eighth more. What stays keeps its place: a job that appends to the file and a reader
// with an offset notice nothing, and the file's length goes on growing. On a file system without
// holes the whole log is cut. True if something was freed. A path that is no ordinary file is left
// alone.
Result<bool> shorten_log(const std::string& path, std::int64_t most);

// Removes files "*.log" of a folder that no process has written to for longer than `age`, but those
// that `is_used` names by their file names. Answers how many.
int remove_old_logs(const std::string& folder, Duration age,
                    const std::function<bool(const std::string&)>& is_used);

}  // namespace orrery
