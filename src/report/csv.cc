#include "report/csv.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <cmath>
#include <optional>

#include "base/json_text.h"
#include "report/metrics/summary_fields.h"

namespace orrery {
namespace {

const std::string& cell(const std::string& value) { return value; }

std::string cell(std::int64_t value) { return fmt::to_string(value); }

std::string cell(double value) { return std::isfinite(value) ? fmt::format("{}", value) : ""; }

std::string cell(const std::vector<std::string>& texts) {
  return fmt::format("{}", fmt::join(texts, "; "));
}

template <class T>
std::string cell(const std::optional<T>& value) {
  return value ? cell(*value) : std::string();
}

}  // namespace

std::vector<std::string> field_names() {
  std::vector<std::string> names;
  for_each_field(RunSummary{},
                 [&](std::string_view name, const auto&) { names.emplace_back(name); });
  return names;
}

std::vector<std::string> field_values(const RunSummary& run) {
  std::vector<std::string> values;
  for_each_field(run, [&](std::string_view, const auto& value) { values.push_back(cell(value)); });
  return values;
}

void append_csv(fmt::memory_buffer& out, std::string_view value) {
  if (value.find_first_of(",\"\r\n") == std::string_view::npos) return append(out, value);
  out.push_back('"');
  for (const char c : value) {
    if (c == '"') out.push_back('"');
    out.push_back(c);
  }
  out.push_back('"');
}

std::string csv_line(std::span<const std::string> values) {
  fmt::memory_buffer out;
  for (std::size_t i = 0; i < values.size(); ++i) {
    if (i > 0) out.push_back(',');
    append_csv(out, values[i]);
  }
  out.push_back('\n');
  return fmt::to_string(out);
}

std::string to_csv(std::span<const RunSummary> runs) {
  std::string out = csv_line(field_names());
  for (const RunSummary& run : runs) out += csv_line(field_values(run));
  return out;
}

}  // namespace orrery
