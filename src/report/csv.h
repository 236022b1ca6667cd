#pragma once

#include <span>
#include <string>

#include "report/metrics/summary.h"

namespace orrery {

// A heading line and a line a run, with the fields of the JSON in the same order. A figure without
// meaning is an empty cell. Cells are quoted where a comma, a quote or a line end asks for it.
std::string to_csv(std::span<const RunSummary> runs);

}  // namespace orrery
