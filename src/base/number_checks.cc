#include "base/number_checks.h"

#include <fmt/format.h>

#include <charconv>
#include <optional>

namespace orrery {
namespace {

template <typename Number>
std::optional<Number> parse_whole_text(const std::string& text) {
  Number value = 0;
  const char* const end = text.data() + text.size();
  const auto read = std::from_chars(text.data(), end, value);
  if (read.ec != std::errc() || read.ptr != end) return std::nullopt;
  return value;
}

// A number of hundreds of digits does not fill the message.
std::string shortened(const std::string& text) {
  constexpr std::size_t kMost = 40;
  return text.size() <= kMost ? text : text.substr(0, kMost) + "...";
}

}  // namespace

std::string check_number_between(const std::string& text, double low, double high) {
  const auto value = parse_whole_text<double>(text);
  if (value && low <= *value && *value <= high) return {};
  return fmt::format("'{}' is not a number from {} to {}", shortened(text), low, high);
}

std::string check_number_above_0(const std::string& text, double high) {
  const auto value = parse_whole_text<double>(text);
  if (value && 0 < *value && *value <= high) return {};
  return fmt::format("'{}' is not a number above 0", shortened(text)) +
         (high < 1e300 ? fmt::format(" and at most {}", high) : "");
}

std::string check_whole_number(const std::string& text, std::int64_t low, std::int64_t high) {
  const auto value = parse_whole_text<std::int64_t>(text);
  if (value && low <= *value && *value <= high) return {};
  return fmt::format("'{}' is not a whole number from {} to {}", shortened(text), low, high);
}

}  // namespace orrery
