#include "report/json.h"

#include <cmath>
#include <optional>

#include "base/json_text.h"
#include "report/metrics/summary_fields.h"

namespace orrery {
namespace {

void append_value(fmt::memory_buffer& out, const std::string& value) { append_string(out, value); }

void append_value(fmt::memory_buffer& out, std::int64_t value) { append_number(out, value); }

// A quotient that has run off the scale means nothing to a reader either.
void append_value(fmt::memory_buffer& out, double value) {
  if (std::isfinite(value)) {
    append_number(out, value);
  } else {
    append(out, "null");
  }
}

void append_value(fmt::memory_buffer& out, const std::vector<std::string>& texts) {
  out.push_back('[');
  for (const std::string& text : texts) {
    if (&text != &texts.front()) out.push_back(',');
    append_string(out, text);
  }
  out.push_back(']');
}

template <class T>
void append_value(fmt::memory_buffer& out, const std::optional<T>& value) {
  if (value) {
    append_value(out, *value);
  } else {
    append(out, "null");
  }
}

}  // namespace

void append_json(fmt::memory_buffer& out, const RunSummary& run) {
  char before = '{';
  for_each_field(run, [&](std::string_view name, const auto& value) {
    out.push_back(before);
    before = ',';
    append_string(out, name);
    out.push_back(':');
    append_value(out, value);
  });
  out.push_back('}');
}

std::string to_json(std::span<const RunSummary> runs) {
  fmt::memory_buffer out;
  append(out, "{\"runs\":[");
  std::string_view before = "\n";
  for (const RunSummary& run : runs) {
    append(out, before);
    before = ",\n";
    append_json(out, run);
  }
  append(out, "\n]}\n");
  return fmt::to_string(out);
}

}  // namespace orrery
