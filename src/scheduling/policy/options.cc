#include "scheduling/policy/options.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <charconv>
#include <cmath>

#include "model/duration_text.h"

namespace orrery {
namespace {

Error bad_value(std::string_view key, std::string_view value, std::string_view wanted) {
  return invalid(fmt::format("option {}={}: expected {}", key, value, wanted));
}

}  // namespace

Options::Options(std::span<const OptionInfo> table, std::span<const OptionDefault> defaults,
                 const std::map<std::string, std::string>& given)
    : table_(table), defaults_(defaults), given_(given) {}

std::string Options::text(std::string_view key) const {
  const auto given = given_.find(std::string(key));
  if (given != given_.end()) return given->second;
  const auto info = std::ranges::find(table_, key, &OptionInfo::key);
  INVARIANT(info != table_.end(), "a policy asks only for options it lists");
  const auto instead = std::ranges::find(defaults_, key, &OptionDefault::key);
  return std::string(instead == defaults_.end() ? info->value : instead->value);
}

Result<bool> Options::flag(std::string_view key) const {
  const std::string value = text(key);
  for (const std::string_view yes : {"true", "on", "yes", "1"}) {
    if (value == yes) return true;
  }
  for (const std::string_view no : {"false", "off", "no", "0"}) {
    if (value == no) return false;
  }
  return bad_value(key, value, "true or false");
}

Result<double> Options::number(std::string_view key, double low, double high) const {
  const std::string value = text(key);
  double number = 0;
  const auto [rest, problem] = std::from_chars(value.data(), value.data() + value.size(), number);
  const bool read = problem == std::errc() && rest == value.data() + value.size();
  if (!read || !(number >= low && number <= high)) {
    return bad_value(key, value, fmt::format("a number from {} to {}", low, high));
  }
  return number;
}

Result<int> Options::integer(std::string_view key, int low, int high) const {
  TRY_ASSIGN(const double number, this->number(key, low, high));
  if (number != std::floor(number)) return bad_value(key, text(key), "a whole number");
  return static_cast<int>(number);
}

Result<Duration> Options::duration(std::string_view key, Duration least) const {
  auto parsed = parse_duration(text(key));
  if (!parsed.ok()) return std::move(parsed).error().at(fmt::format("option {}", key));
  if (parsed.value() >= least) return parsed;
  return invalid(fmt::format("option {}: {} is too short; write {} or longer", key, text(key),
                             duration_text(least)));
}

Result<std::vector<Duration>> Options::durations(std::string_view key) const {
  const std::string value = text(key);
  std::vector<Duration> result;
  for (std::size_t begin = 0; begin <= value.size();) {
    const std::size_t end = std::min(value.find(',', begin), value.size());
    auto parsed = parse_duration(std::string_view(value).substr(begin, end - begin));
    if (!parsed.ok()) return std::move(parsed).error().at(fmt::format("option {}", key));
    result.push_back(std::move(parsed).value());
    begin = end + 1;
  }
  const bool rises = std::ranges::adjacent_find(result, std::greater_equal<>{}) == result.end();
  if (!rises || result.front() <= Duration::zero()) {
    return bad_value(key, value, "rising lengths of time above 0, such as 1h,2h");
  }
  return result;
}

Result<int> Options::choice(std::string_view key, std::span<const std::string_view> choices) const {
  const std::string value = text(key);
  const auto found = std::ranges::find(choices, value);
  if (found != choices.end()) return static_cast<int>(found - choices.begin());
  return bad_value(key, value, fmt::format("one of {}", fmt::join(choices, ", ")));
}

Status check_keys(std::string_view policy, std::span<const std::span<const OptionInfo>> tables,
                  const std::map<std::string, std::string>& given) {
  std::vector<std::string_view> known;
  for (const auto table : tables) {
    for (const OptionInfo& info : table) known.push_back(info.key);
  }
  for (const auto& [key, value] : given) {
    if (std::ranges::find(known, key) != known.end()) continue;
    return invalid(fmt::format("policy {} has no option '{}'; it knows {}", policy, key,
                               fmt::join(known, ", ")));
  }
  return {};
}

}  // namespace orrery
