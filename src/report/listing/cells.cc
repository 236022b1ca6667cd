#include "report/listing/cells.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <ctime>

#include "base/plain_text.h"

namespace orrery {
namespace {

using Json = nlohmann::ordered_json;

constexpr const char* kNone = "-";

double largest_of(const std::vector<const Json*>& values) {
  double largest = 0;
  for (const Json* value : values) {
    if (value->is_number()) largest = std::max(largest, std::abs(value->get<double>()));
  }
  return largest;
}

// The decimals that the values need, at most two digits of the smallest of them.
int decimals_of(const std::vector<const Json*>& values, double unit) {
  double smallest = 1;
  for (const Json* value : values) {
    const double size = value->is_number() ? std::abs(value->get<double>()) / unit : 0;
    if (size > 0) smallest = std::min(smallest, size);
  }
  const int most = smallest >= 0.1 ? 2 : smallest >= 0.01 ? 3 : 4;
  const auto fit = [&](int decimals) {
    const double scale = std::pow(10.0, decimals);
    const double finest = std::pow(10.0, most);
    return std::ranges::all_of(values, [&](const Json* value) {
      if (!value->is_number()) return true;
      const double rounded = std::round(value->get<double>() / unit * finest) / finest;
      return std::abs(std::round(rounded * scale) / scale - rounded) < 0.1 / finest;
    });
  };
  int decimals = 0;
  while (decimals < most && !fit(decimals)) ++decimals;
  return decimals;
}

std::string text_cell(const Json& value, std::string_view none) {
  if (value.is_boolean()) return value.get<bool>() ? "yes" : "no";
  const std::string text = plain_value(value, ",");
  return text.empty() ? std::string(none) : text;
}

// The shortest unit of 1024 in which the largest is below 1024.
std::pair<double, const char*> bytes_unit(double largest) {
  constexpr std::array<const char*, 5> kUnits = {"B", "K", "M", "G", "T"};
  double size = 1;
  std::size_t unit = 0;
  for (; largest / size >= 1023.5 && unit + 1 < kUnits.size(); ++unit) size *= 1024;
  return {size, kUnits[unit]};
}

}  // namespace

std::string plain_value(const Json& value, std::string_view between) {
  if (value.is_null()) return "";
  if (value.is_string()) return plain_text(value.get_ref<const std::string&>());
  if (!value.is_array()) return value.dump(-1, ' ', false, Json::error_handler_t::replace);
  std::string all;
  for (const Json& one : value) {
    if (&one != &value.front()) all += between;
    all += plain_value(one, between);
  }
  return all;
}

std::vector<std::string> cells_of(const ListColumn& column, const Listing& listing) {
  static const Json kNull;
  std::vector<const Json*> values;
  for (const Json& row : listing.rows) {
    const auto found = row.find(column.field);
    values.push_back(found == row.end() ? &kNull : &*found);
  }
  const double largest = largest_of(values);
  const auto [unit, unit_name] =
      column.kind == ColumnKind::Bytes ? bytes_unit(largest) : std::pair(1.0, "");
  const int decimals = decimals_of(values, unit);
  std::vector<std::string> cells;
  for (const Json* value : values) {
    if (!value->is_number() || column.kind == ColumnKind::Text) {
      cells.push_back(text_cell(*value, column.none));
      continue;
    }
    const auto number = value->get<double>();
    switch (column.kind) {
      case ColumnKind::Text:
      case ColumnKind::Count:
      case ColumnKind::Bytes:
        cells.push_back(fmt::format("{:.{}f}{}", number / unit, decimals, unit_name));
        break;
      case ColumnKind::Seconds:
        cells.push_back(clock_text(number));
        break;
      case ColumnKind::Age:
        cells.push_back(clock_text(listing.now_s - number));
        break;
      case ColumnKind::Instant:
        cells.push_back(local_time(number));
        break;
      case ColumnKind::Share:
        cells.push_back(fmt::format("{:.1f} %", number * 100));
        break;
    }
  }
  return cells;
}

std::string clock_text(double value_s) {
  constexpr double kMost = 1e12;
  const double rounded = std::isfinite(value_s) ? std::max(0.0, std::floor(value_s)) : 0;
  const auto seconds = static_cast<std::int64_t>(std::min(rounded, kMost));
  const auto [days, hours, minutes] =
      std::array{seconds / 86400, seconds / 3600 % 24, seconds / 60 % 60};
  if (days > 0) return fmt::format("{}-{:02}:{:02}:{:02}", days, hours, minutes, seconds % 60);
  if (hours > 0) return fmt::format("{}:{:02}:{:02}", hours, minutes, seconds % 60);
  return fmt::format("{}:{:02}", minutes, seconds % 60);
}

std::string local_time(double since_1970_s) {
  if (!(std::abs(since_1970_s) < 1e11)) return kNone;
  const auto time = static_cast<std::time_t>(std::floor(since_1970_s));
  std::tm parts{};
  if (localtime_r(&time, &parts) == nullptr) return kNone;
  std::array<char, 32> text{};
  const std::size_t size = std::strftime(text.data(), text.size(), "%Y-%m-%d %H:%M:%S", &parts);
  return {text.data(), size};
}

std::string fitted(std::string_view foreign, std::size_t width) {
  const std::string text = plain_text(foreign);
  std::string plain;
  std::size_t columns = 0;
  std::size_t before_last = 0;  // bytes after which the ellipsis fits
  for (const char c : text) {
    const bool starts = (c & 0xC0) != 0x80;
    if (starts && columns == width) {
      plain.resize(before_last);
      return width == 0 ? "" : plain + "…";
    }
    if (starts) {
      ++columns;
      if (columns == width) before_last = plain.size();
    }
    plain += c;
  }
  return plain;
}

}  // namespace orrery
