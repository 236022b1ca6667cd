#pragma once

#include <string>
#include <vector>

#include "base/result.h"
#include "training/mode_selection/scoring/selector.h"

namespace orrery {

// windows.csv of a run's folder, in order of time: docs/formats/training-run.md. Half a line at the
// end is where a run was killed; whatever else is wrong is an error with its line.
std::string window_columns();
std::string window_line(const SelectorSample& window);  // what is read is what was written
Result<std::vector<SelectorSample>> parse_windows(const std::string& text);
Result<std::vector<SelectorSample>> read_windows(const std::string& folder);

}  // namespace orrery
