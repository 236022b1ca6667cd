#pragma once

#include <cstdint>
#include <string>

namespace orrery {

// A whole number of 10^-digits as a decimal, without zeros at the end: 1500 with 3 digits is "1.5".
std::string fixed_text(std::int64_t value, int digits);

}  // namespace orrery
