#include "report/event_log/log_line.h"

#include <fmt/format.h>

#include <cmath>

namespace orrery {
namespace {

using nlohmann::json;

Error missing(const char* key) { return invalid(fmt::format("\"{}\" is missing", key)); }

}  // namespace

Status LogLine::absent(const char* key, Need need) {
  return need == Need::Required ? Status(missing(key)) : Status();
}

const json* LogLine::find(const char* key) const {
  const auto found = object_.find(key);
  return found == object_.end() ? nullptr : &*found;
}

Result<std::int64_t> LogLine::whole(const json& value, const char* key, std::int64_t low,
                                    std::int64_t high) {
  const bool fits = value.is_number_unsigned() ? value.get<std::uint64_t>() <=
                                                     static_cast<std::uint64_t>(kMax<std::int64_t>)
                                               : value.is_number_integer();
  const std::int64_t number = fits ? value.get<std::int64_t>() : 0;
  if (!fits || number < low || number > high) {
    return invalid(fmt::format("\"{}\" is not a whole number from {} to {}", key, low, high));
  }
  return number;
}

Status LogLine::time(const char* key, Time& out, Need need) const {
  std::int64_t count = out.time_since_epoch().count();
  TRY(integer(key, count, need));
  out = Time(Duration(count));
  return {};
}

Status LogLine::number(const char* key, double& out, Need need) const {
  const json* value = find(key);
  if (value == nullptr) return absent(key, need);
  return real(*value, key, out);
}

Status LogLine::real(const json& value, const char* key, double& out) {
  constexpr double kInfinity = std::numeric_limits<double>::infinity();
  if (value.is_number()) {
    out = value.get<double>();
  } else if (value == "inf") {
    out = kInfinity;
  } else if (value == "-inf") {
    out = -kInfinity;
  } else if (value == "nan") {
    out = std::numeric_limits<double>::quiet_NaN();
  } else {
    return invalid(fmt::format("\"{}\" is not a number", key));
  }
  return {};
}

Status LogLine::text(const char* key, std::string& out, Need need) const {
  const json* value = find(key);
  if (value == nullptr) return absent(key, need);
  if (!value->is_string()) return invalid(fmt::format("\"{}\" is not a string", key));
  out = value->get_ref<const std::string&>();
  return {};
}

Result<const json*> LogLine::nested(const char* key) const {
  const json* value = find(key);
  if (value == nullptr) return missing(key);
  if (!value->is_object()) return invalid(fmt::format("\"{}\" is not an object", key));
  return value;
}

Result<const json*> LogLine::list(const char* key) const {
  const json* value = find(key);
  if (value == nullptr) return missing(key);
  if (!value->is_array()) return invalid(fmt::format("\"{}\" is not a list", key));
  return value;
}

Result<LogLine::Speed> LogLine::speed(const json& entry, const char* key, std::size_t counts) {
  if (!entry.is_array() || entry.size() != counts + 1) {
    return invalid(fmt::format("an entry of \"{}\" is not a list of {} numbers", key, counts + 1));
  }
  Speed out;
  for (std::size_t i = 0; i < counts; ++i) {
    TRY_ASSIGN(const std::int64_t count, whole(entry[i], key, 1, kMax<int>));
    out.counts[i] = static_cast<int>(count);
  }
  TRY(real(entry[counts], key, out.iterations_per_s));
  if (!(out.iterations_per_s > 0) || std::isinf(out.iterations_per_s)) {
    return invalid(fmt::format("a speed in \"{}\" is not a number above 0", key));
  }
  return out;
}

}  // namespace orrery
