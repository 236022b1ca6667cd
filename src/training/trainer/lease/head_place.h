#pragma once

#include <sys/types.h>

#include <cstdint>
#include <functional>
#include <optional>
#include <string>

#include "base/result.h"

namespace orrery {

struct PartStart;

// Where the head of a run listens, as its folder says: "ADDRESS PORT PID [EPOCH]".
struct HeadPlace {
  std::string host{};
  std::uint16_t port = 0;
  pid_t pid = 0;
  std::int64_t epoch = 0;  // of a run with members; 0: the run has no lease
};
std::string head_place_text(const HeadPlace& place);
Result<HeadPlace> read_head_place(const std::string& folder);

// The head whose epoch is that of the lease. Nothing: no member leads the run at the moment.
std::optional<HeadPlace> present_head(const std::string& folder);

// FOLDER/result.json: the run is over, and what it came to.
std::string run_result_path(const std::string& folder);
bool run_is_over(const std::string& folder);

// Runs a part of a run that lasts longer than its heads: `once` for each of them, until it ends
// without an error or the run is over. A part that its head has started has no folder in `start`,
// and runs once.
Status under_each_head(PartStart start, const std::function<Status(const PartStart&)>& once);

}  // namespace orrery
