#pragma once

#include <cstdint>
#include <string>

namespace orrery {

// Checks of a number that a user wrote. Each returns an error text that says what to write, or an
// empty text if the number is right. NaN, infinities and numbers beyond a double are never right.

std::string check_number_between(const std::string& text, double low, double high);
std::string check_number_above_0(const std::string& text, double high);
std::string check_whole_number(const std::string& text, std::int64_t low, std::int64_t high);

}  // namespace orrery
