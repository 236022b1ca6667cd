#include "base/toml_text.h"

#include <fmt/format.h>

#include <algorithm>

namespace orrery {
namespace {

// To know which letters stand inside a string one would have to parse, so all of them are refused
// but in comment lines; and strings of several lines, in which a comment line would not be one.
std::string_view fault_in(std::string_view line) {
  const std::size_t start = line.find_first_not_of(" \t");
  if (start == std::string_view::npos || line[start] == '#') return {};
  if (std::ranges::any_of(line, [](char c) { return static_cast<unsigned char>(c) >= 0x80; })) {
    return "a letter beyond ASCII; inside quotes write it \\uXXXX, or put it on a comment line";
  }
  for (const std::string_view quotes : {"\"\"\"", "'''"}) {
    if (line.find(quotes) != std::string_view::npos) return "a string of several lines";
  }
  return {};
}

}  // namespace

Result<toml::table> parse_toml(std::string_view name, std::string_view text) {
  std::size_t number = 1;
  for (std::string_view rest = text; !rest.empty(); ++number) {
    const std::size_t end = rest.find('\n');
    if (const auto fault = fault_in(rest.substr(0, end)); !fault.empty()) {
      return invalid(fmt::format("{}:{}: {}", name, number, fault));
    }
    rest.remove_prefix(end == std::string_view::npos ? rest.size() : end + 1);
  }
  try {
    return toml::parse(text);
  } catch (const toml::parse_error& error) {
    return invalid(fmt::format("{}:{}: is not valid TOML: {}", name, error.source().begin.line,
                               error.description()));
  } catch (const std::logic_error& error) {
    return invalid(fmt::format("{}: is not valid TOML: {}", name, error.what()));
  }
}

}  // namespace orrery
