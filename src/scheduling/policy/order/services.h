#pragma once

#include <istream>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace orrery {

// Services of past jobs in GPU seconds, one number a line under the header `duration`.
Result<std::vector<double>> read_services(const std::string& path);
Result<std::vector<double>> parse_services(std::string_view name, std::istream& in);

}  // namespace orrery
