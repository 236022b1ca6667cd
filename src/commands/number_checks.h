#pragma once

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <charconv>
#include <cstdint>
#include <string>

// Checks of numbers on the command line. CLI11's own let NaN pass every range, wrap a negative seed
// and print a bound of 309 digits.

namespace orrery {

// A finite number in [low, high].
inline CLI::Validator number_between(double low, double high) {
  return CLI::Validator(
      [=](const std::string& text) {
        double value = 0;
        const auto read = std::from_chars(text.data(), text.data() + text.size(), value);
        const bool whole = read.ec == std::errc() && read.ptr == text.data() + text.size();
        if (whole && low <= value && value <= high) return std::string();
        return fmt::format("'{}' is not a number from {} to {}", text, low, high);
      },
      fmt::format("{} to {}", low, high));
}

// A finite number above 0.
inline CLI::Validator number_above_0() {
  return CLI::Validator(
      [](const std::string& text) {
        double value = 0;
        const auto read = std::from_chars(text.data(), text.data() + text.size(), value);
        const bool whole = read.ec == std::errc() && read.ptr == text.data() + text.size();
        if (whole && 0 < value && value <= 1e300) return std::string();
        return fmt::format("'{}' is not a number above 0", text);
      },
      "above 0");
}

// A whole number, 0 or more.
inline CLI::Validator count() {
  return CLI::Validator(
      [](const std::string& text) {
        std::int64_t value = -1;
        const auto read = std::from_chars(text.data(), text.data() + text.size(), value);
        if (read.ec == std::errc() && read.ptr == text.data() + text.size() && value >= 0) {
          return std::string();
        }
        return fmt::format("'{}' is not a whole number from 0 to 9223372036854775807", text);
      },
      "0 or more");
}

}  // namespace orrery
