#pragma once

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <cstdint>
#include <string>

#include "base/number_checks.h"

// Checks of numbers on the command line. CLI11's own let NaN pass every range, wrap a negative seed
// and print a bound of 309 digits.

namespace orrery {

// A finite number in [low, high].
inline CLI::Validator number_between(double low, double high) {
  return CLI::Validator(
      [=](const std::string& text) { return check_number_between(text, low, high); },
      fmt::format("{} to {}", low, high));
}

// A finite number above 0.
inline CLI::Validator number_above_0() {
  return CLI::Validator([](const std::string& text) { return check_number_above_0(text, 1e300); },
                        "above 0");
}

// A whole number, 0 or more.
inline CLI::Validator count() {
  return CLI::Validator(
      [](const std::string& text) { return check_whole_number(text, 0, INT64_MAX); }, "0 or more");
}

}  // namespace orrery
