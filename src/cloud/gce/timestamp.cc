#include "cloud/gce/timestamp.h"

#include <fmt/format.h>

#include <array>
#include <charconv>
#include <chrono>

namespace orrery {
namespace {

using std::chrono::days;
using std::chrono::hours;
using std::chrono::minutes;
using std::chrono::sys_days;
using std::chrono::year_month_day;

constexpr auto kMonths = std::to_array<std::string_view>(
    {"Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"});
constexpr auto kWeekdays =
    std::to_array<std::string_view>({"Sun", "Mon", "Tue", "Wed", "Thu", "Fri", "Sat"});

// Takes a number of exactly `digits` digits and then `end` from the front. -1: there is none.
int take(std::string_view& text, std::size_t digits, std::string_view end) {
  if (text.size() < digits + end.size()) return -1;
  int value = 0;
  for (const char c : text.substr(0, digits)) {
    if (c < '0' || c > '9') return -1;
    value = value * 10 + (c - '0');
  }
  if (text.substr(digits, end.size()) != end) return -1;
  text.remove_prefix(digits + end.size());
  return value;
}

struct Calendar {
  int year = -1;
  int month = -1;
  int day = -1;
  int hour = -1;
  int minute = -1;
  int second = -1;
};

std::optional<Time> time_of(const Calendar& c) {
  if (c.year < 1970 || c.year > 2200 || c.hour < 0 || c.hour > 23 || c.minute < 0 ||
      c.minute > 59 || c.second < 0 || c.second > 60) {
    return std::nullopt;
  }
  const year_month_day date{std::chrono::year(c.year),
                            std::chrono::month(static_cast<unsigned>(c.month)),
                            std::chrono::day(static_cast<unsigned>(c.day))};
  if (c.month < 1 || c.day < 1 || !date.ok()) return std::nullopt;
  return Time(Duration(sys_days(date).time_since_epoch()) + hours(c.hour) + minutes(c.minute) +
              std::chrono::seconds(c.second));
}

// Takes the digits after a point, as nanoseconds.
Duration take_fraction(std::string_view& text) {
  if (text.empty() || text.front() != '.') return {};
  text.remove_prefix(1);
  std::int64_t nanoseconds = 0;
  std::int64_t unit = 100'000'000;
  while (!text.empty() && text.front() >= '0' && text.front() <= '9') {
    nanoseconds += unit * (text.front() - '0');
    unit /= 10;
    text.remove_prefix(1);
  }
  return Duration(nanoseconds);
}

year_month_day date_of(Time time) {
  return sys_days(std::chrono::floor<days>(time.time_since_epoch()));
}

}  // namespace

std::optional<Time> rfc3339_time(std::string_view text) {
  Calendar c;
  c.year = take(text, 4, "-");
  c.month = take(text, 2, "-");
  c.day = take(text, 2, "T");
  c.hour = take(text, 2, ":");
  c.minute = take(text, 2, ":");
  c.second = take(text, 2, "");
  const auto whole = time_of(c);
  if (!whole) return std::nullopt;
  const Time local = *whole + take_fraction(text);
  if (text == "Z" || text == "z") return local;
  if (text.empty() || (text.front() != '+' && text.front() != '-')) return std::nullopt;
  const int sign = text.front() == '-' ? 1 : -1;
  text.remove_prefix(1);
  const int east_hours = take(text, 2, ":");
  const int east_minutes = take(text, 2, "");
  if (east_hours < 0 || east_minutes < 0 || !text.empty()) return std::nullopt;
  return local + sign * (hours(east_hours) + minutes(east_minutes));
}

std::string rfc3339_text(Time time) {
  const year_month_day date = date_of(time);
  const Duration of_day = time.time_since_epoch() % Duration(days(1));
  const std::int64_t ms = of_day.count() / 1'000'000;
  return fmt::format("{:04}-{:02}-{:02}T{:02}:{:02}:{:02}.{:03}Z", static_cast<int>(date.year()),
                     static_cast<unsigned>(date.month()), static_cast<unsigned>(date.day()),
                     ms / 3'600'000, ms / 60'000 % 60, ms / 1000 % 60, ms % 1000);
}

std::optional<Time> http_date(std::string_view text) {
  const std::size_t comma = text.find(", ");
  if (comma == std::string_view::npos) return std::nullopt;
  text.remove_prefix(comma + 2);
  Calendar c;
  c.day = take(text, 2, " ");
  for (std::size_t month = 0; month < kMonths.size(); ++month) {
    if (text.substr(0, 3) == kMonths[month]) c.month = static_cast<int>(month) + 1;
  }
  if (c.month < 0 || text.size() < 4) return std::nullopt;
  text.remove_prefix(4);
  c.year = take(text, 4, " ");
  c.hour = take(text, 2, ":");
  c.minute = take(text, 2, ":");
  c.second = take(text, 2, " GMT");
  return time_of(c);
}

std::string http_date_text(Time time) {
  const year_month_day date = date_of(time);
  const std::chrono::weekday weekday{sys_days(date)};
  const std::int64_t s = time.time_since_epoch() / std::chrono::seconds(1) % 86'400;
  return fmt::format("{}, {:02} {} {:04} {:02}:{:02}:{:02} GMT", kWeekdays[weekday.c_encoding()],
                     static_cast<unsigned>(date.day()),
                     kMonths[static_cast<unsigned>(date.month()) - 1],
                     static_cast<int>(date.year()), s / 3600, s / 60 % 60, s % 60);
}

}  // namespace orrery
