#pragma once

#include <fmt/format.h>

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "report/metrics/summary.h"

namespace orrery {

// A heading line and a line a run, with the fields of the JSON in the same order. A figure without
// meaning is an empty cell. Cells are quoted where a comma, a quote or a line end asks for it.
std::string to_csv(std::span<const RunSummary> runs);

// The names of the fields, and the values of a run, each as a cell of its own without quotes.
std::vector<std::string> field_names();
std::vector<std::string> field_values(const RunSummary& run);

// One cell, quoted where it must be.
void append_csv(fmt::memory_buffer& out, std::string_view value);
// Cells on a line.
std::string csv_line(std::span<const std::string> values);

}  // namespace orrery
