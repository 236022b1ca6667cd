#pragma once

#include <fmt/format.h>

#include <span>
#include <string>

#include "report/metrics/summary.h"

namespace orrery {

// {"runs":[{...},...]} and a line end, with exactly the fields that docs/formats/summary.md lists.
// Numbers read back exactly; a figure without meaning is null.
std::string to_json(std::span<const RunSummary> runs);

// One run as a JSON object.
void append_json(fmt::memory_buffer& out, const RunSummary& run);

}  // namespace orrery
