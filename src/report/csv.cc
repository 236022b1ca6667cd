#include "report/csv.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <cmath>
#include <optional>

#include "report/metrics/summary_fields.h"

namespace orrery {
namespace {

std::string cell(const std::string& value) {
  if (value.find_first_of(",\"\r\n") == std::string::npos) return value;
  std::string quoted = "\"";
  for (const char c : value) {
    if (c == '"') quoted += '"';
    quoted += c;
  }
  return quoted + '"';
}

std::string cell(std::int64_t value) { return fmt::to_string(value); }

std::string cell(double value) { return std::isfinite(value) ? fmt::format("{}", value) : ""; }

std::string cell(const std::vector<std::string>& texts) {
  return cell(fmt::format("{}", fmt::join(texts, "; ")));
}

template <class T>
std::string cell(const std::optional<T>& value) {
  return value ? cell(*value) : std::string();
}

}  // namespace

std::string to_csv(std::span<const RunSummary> runs) {
  std::string out;
  const auto add = [&](std::string_view name, const std::string& text) {
    if (name != "trace") out += ',';
    out += text;
  };
  for_each_field(RunSummary{},
                 [&](std::string_view name, const auto&) { add(name, std::string(name)); });
  out += '\n';
  for (const RunSummary& run : runs) {
    for_each_field(run, [&](std::string_view name, const auto& value) { add(name, cell(value)); });
    out += '\n';
  }
  return out;
}

}  // namespace orrery
