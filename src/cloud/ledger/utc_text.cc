#include "cloud/ledger/utc_text.h"

#include <fmt/format.h>

#include <charconv>
#include <chrono>

namespace orrery {
namespace {

using Days = std::chrono::sys_days;

std::optional<int> number_at(std::string_view text, std::size_t first, std::size_t digits) {
  int value = 0;
  for (const char c : text.substr(first, digits)) {
    if (c < '0' || c > '9') return std::nullopt;
    value = value * 10 + c - '0';
  }
  return value;
}

// Digits behind the point, as nanoseconds.
std::optional<Duration> fraction_of(std::string_view digits) {
  if (digits.empty() || digits.size() > 9) return std::nullopt;
  const auto value = number_at(digits, 0, digits.size());
  if (!value) return std::nullopt;
  std::int64_t nanoseconds = *value;
  for (std::size_t i = digits.size(); i < 9; ++i) nanoseconds *= 10;
  return Duration(nanoseconds);
}

}  // namespace

std::string utc_text(Time time) {
  const std::chrono::sys_time<Duration> instant(time.time_since_epoch());
  const Days day = std::chrono::floor<std::chrono::days>(instant);
  const std::chrono::year_month_day date(day);
  const std::chrono::hh_mm_ss clock(instant - day);
  return fmt::format("{:04}-{:02}-{:02}T{:02}:{:02}:{:02}.{:09}Z", static_cast<int>(date.year()),
                     static_cast<unsigned>(date.month()), static_cast<unsigned>(date.day()),
                     clock.hours().count(), clock.minutes().count(), clock.seconds().count(),
                     clock.subseconds().count());
}

std::optional<Time> time_of_utc(std::string_view text) {
  if (text.ends_with('Z')) text.remove_suffix(1);
  if (text.size() < 19 || text[4] != '-' || text[7] != '-' || text[13] != ':' || text[16] != ':' ||
      (text[10] != 'T' && text[10] != ' ')) {
    return std::nullopt;
  }
  const auto year = number_at(text, 0, 4), month = number_at(text, 5, 2),
             day = number_at(text, 8, 2);
  const auto hour = number_at(text, 11, 2), minute = number_at(text, 14, 2);
  const auto second = number_at(text, 17, 2);
  if (!year || !month || !day || !hour || !minute || !second) return std::nullopt;
  const std::chrono::year_month_day date(std::chrono::year(*year),
                                         std::chrono::month(static_cast<unsigned>(*month)),
                                         std::chrono::day(static_cast<unsigned>(*day)));
  if (!date.ok() || *year < 1970 || *year > 2261 || *hour > 23 || *minute > 59 || *second > 59) {
    return std::nullopt;
  }
  Duration fraction{};
  if (text.size() > 19) {
    const auto digits = text[19] == '.' ? fraction_of(text.substr(20)) : std::nullopt;
    if (!digits) return std::nullopt;
    fraction = *digits;
  }
  return Time(Duration(Days(date).time_since_epoch()) + std::chrono::hours(*hour) +
              std::chrono::minutes(*minute) + std::chrono::seconds(*second) + fraction);
}

}  // namespace orrery
