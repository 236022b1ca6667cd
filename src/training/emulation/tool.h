#pragma once

#include <string>
#include <vector>

#include "base/result.h"

namespace orrery {

// Runs a program to its end with `input` on its standard input, and gives back what it wrote. One
// that is not there, or ends with anything but 0, is an error with the end of what it wrote.
Result<std::string> run_tool(const std::vector<std::string>& argv, const std::string& input = {});

}  // namespace orrery
