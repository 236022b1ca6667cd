#include "workload/text/date_text.h"

#include <array>
#include <charconv>
#include <string>

#include "workload/formats/row.h"

namespace orrery {
namespace {

constexpr int kYearMin = 1970;
constexpr int kYearMax = 2069;

bool is_digit(char c) { return c >= '0' && c <= '9'; }

// The digits at [at, at + count); -1 where something else stands there.
int digits(std::string_view text, std::size_t at, std::size_t count) {
  if (text.size() < at + count) return -1;
  int value = 0;
  for (std::size_t i = at; i < at + count; ++i) {
    if (!is_digit(text[i])) return -1;
    value = 10 * value + (text[i] - '0');
  }
  return value;
}

bool is_leap(int year) { return (year % 4 == 0 && year % 100 != 0) || year % 400 == 0; }

int days_in(int year, int month) {
  constexpr std::array<int, 12> kDays = {31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31};
  return kDays[static_cast<std::size_t>(month - 1)] + (month == 2 && is_leap(year) ? 1 : 0);
}

std::int64_t days_since_1970(int year, int month, int day) {
  constexpr std::array<int, 12> kBefore = {0, 31, 59, 90, 120, 151, 181, 212, 243, 273, 304, 334};
  const int leaps = (year - 1969) / 4;  // none of 1970 to 2069 is left out by the century rule
  const int this_leap = month > 2 && is_leap(year) ? 1 : 0;
  return 365LL * (year - kYearMin) + leaps + kBefore[static_cast<std::size_t>(month - 1)] +
         this_leap + day - 1;
}

Error not_a_date(std::string_view text) {
  return invalid("'" + std::string(text.substr(0, 40)) +
                 "' is not a date such as 2020-06-09 18:41:01 of the years 1970 to 2069");
}

// Takes ".123" off the front; nanoseconds, further digits are dropped. -1: no digit after the
// point.
std::int64_t take_fraction(std::string_view& rest) {
  if (!rest.starts_with('.')) return 0;
  rest.remove_prefix(1);
  if (rest.empty() || !is_digit(rest.front())) return -1;
  std::int64_t value = 0;
  std::int64_t unit = 100'000'000;
  for (; !rest.empty() && is_digit(rest.front()); rest.remove_prefix(1)) {
    value += unit * (rest.front() - '0');
    unit /= 10;
  }
  return value;
}

// Seconds east of Greenwich; nothing when the text is no zone.
std::optional<std::int64_t> zone_s(std::string_view text) {
  if (text.empty() || text == "Z") return 0;
  if (text.front() != '+' && text.front() != '-') return std::nullopt;
  const int hours = digits(text, 1, 2);
  const bool colon = text.size() > 3 && text[3] == ':';
  const std::size_t size = colon ? 6 : 5;
  const int minutes = text.size() == 3 ? 0 : digits(text, size - 2, 2);
  if (hours < 0 || hours > 18 || minutes < 0 || minutes > 59) return std::nullopt;
  if (text.size() != 3 && text.size() != size) return std::nullopt;
  const std::int64_t east = 3600LL * hours + 60LL * minutes;
  return text.front() == '-' ? -east : east;
}

}  // namespace

Result<Duration> parse_date(std::string_view text) {
  constexpr std::size_t kPlain = 19;
  const int year = digits(text, 0, 4);
  const int month = digits(text, 5, 2);
  const int day = digits(text, 8, 2);
  const int hour = digits(text, 11, 2);
  const int minute = digits(text, 14, 2);
  const int second = digits(text, 17, 2);
  const bool shaped = text.size() >= kPlain && text[4] == '-' && text[7] == '-' &&
                      (text[10] == ' ' || text[10] == 'T') && text[13] == ':' && text[16] == ':';
  const bool inside = year >= kYearMin && year <= kYearMax && month >= 1 && month <= 12 &&
                      day >= 1 && day <= days_in(year, month) && hour >= 0 && hour <= 23 &&
                      minute >= 0 && minute <= 59 && second >= 0 && second <= 60;
  if (!shaped || !inside) return not_a_date(text);
  std::int64_t since_s =
      86'400 * days_since_1970(year, month, day) + 3600LL * hour + 60LL * minute + second;
  std::int64_t fraction_ns = 0;
  if (text.size() > kPlain) {
    std::string_view rest = text.substr(kPlain);
    fraction_ns = take_fraction(rest);
    if (rest.starts_with(' ')) rest.remove_prefix(1);
    const auto east_s = zone_s(rest);
    if (fraction_ns < 0 || !east_s) return not_a_date(text);
    since_s -= *east_s;
    if (since_s < 0 || static_cast<double>(since_s) >= kTimeMax_s) return not_a_date(text);
  }
  return std::chrono::seconds(since_s) + Duration(fraction_ns);
}

bool is_no_value(std::string_view text) {
  if (text.empty()) return true;
  if (is_digit(text.front())) return false;
  constexpr auto kWords = std::to_array<std::string_view>(
      {"None", "Unknown", "NaN", "nan", "NaT", "N/A", "null", "NULL", "none", "NONE"});
  for (const std::string_view word : kWords) {
    if (text == word) return true;
  }
  return false;
}

Result<Duration> parse_clock(std::string_view text) {
  const auto wrong = [&] {
    return invalid("'" + std::string(text.substr(0, 40)) +
                   "' is not a length of time such as 1-02:03:04 or 02:03:04");
  };
  std::string_view rest = text;
  std::int64_t total_s = 0;
  if (const std::size_t dash = rest.find('-'); dash != std::string_view::npos) {
    const auto days = parse_integer(rest.substr(0, dash), 0, 36'500);
    if (!days.ok()) return wrong();
    total_s = 86'400 * days.value();
    rest.remove_prefix(dash + 1);
  }
  std::int64_t fraction_ns = 0;
  if (const std::size_t point = rest.find('.'); point != std::string_view::npos) {
    std::string_view fraction = rest.substr(point);
    fraction_ns = take_fraction(fraction);
    if (fraction_ns < 0 || !fraction.empty()) return wrong();
    rest = rest.substr(0, point);
  }
  std::int64_t clock_s = 0;
  int parts = 0;
  while (true) {
    const std::size_t colon = rest.find(':');
    const auto part = parse_integer(rest.substr(0, colon), 0, 1'000'000);
    if (!part.ok() || ++parts > 3) return wrong();
    clock_s = 60 * clock_s + part.value();
    if (colon == std::string_view::npos) break;
    rest.remove_prefix(colon + 1);
  }
  if (parts < 2) return wrong();
  total_s += clock_s;
  if (static_cast<double>(total_s) > kTimeMax_s) return wrong();
  return std::chrono::seconds(total_s) + Duration(fraction_ns);
}

}  // namespace orrery
