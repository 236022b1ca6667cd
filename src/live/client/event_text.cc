#include "live/client/event_text.h"

#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "live/client/status_text.h"
#include "report/listing/listing.h"

namespace orrery {
namespace {

using Json = nlohmann::ordered_json;

constexpr std::size_t kAll = 1'000'000;

std::string value_text(const Json& value) {
  if (value.is_string()) return value.get<std::string>();
  return value.dump(-1, ' ', false, Json::error_handler_t::replace);
}

// Nanoseconds since 1970.
std::string time_text(const Json& event) {
  const auto time = event.find("unix_ns");
  if (time == event.end() || !time->is_number()) return "-";
  return local_time(time->get<double>() / 1e9);
}

}  // namespace

std::string event_text(std::string_view line) {
  Json event = Json::parse(line, nullptr, false);
  if (!event.is_object()) return fitted(line, kAll);
  const auto word = [&event](const char* key) {
    const auto found = event.find(key);
    return found == event.end() ? std::string("-") : value_text(*found);
  };
  std::string text = fmt::format("{}  {:<10}  {:>6}", time_text(event), word("event"), word("job"));
  const auto what = event.find("what");
  if (what == event.end() || !what->is_object()) return text;
  for (const auto& [key, value] : what->items()) {
    text += fmt::format("  {}={}", key, value_text(value));
  }
  return fitted(text, kAll);
}

}  // namespace orrery
