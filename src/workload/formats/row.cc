#include "workload/formats/row.h"

#include <fmt/format.h>

#include <charconv>
#include <cmath>

#include "base/utf8.h"

namespace orrery {
namespace {

constexpr std::size_t kQuotedMax = 40;

std::string quoted(std::string_view text) {
  std::string result = "'";
  for (const char c : text.substr(0, kQuotedMax)) {
    const bool plain =
        static_cast<unsigned char>(c) >= 0x20 && static_cast<unsigned char>(c) < 0x7f;
    result += plain ? c : '?';
  }
  result += text.size() > kQuotedMax ? "...'" : "'";
  return result;
}

Error not_a_number(std::string_view text) {
  return invalid(fmt::format("{} is not a number", quoted(text)));
}

Error outside(std::string_view text, double low, double high) {
  return invalid(fmt::format("{} is outside {:.10g} to {:.10g}", quoted(text), low, high));
}

std::uint64_t power_of_ten(int digits) {
  std::uint64_t power = 1;
  for (int i = 0; i < digits; ++i) power *= 10;
  return power;
}

bool is_digit(char c) { return c >= '0' && c <= '9'; }

// Reads the plain form "123" or "123.456"; false for any other, and where it might overflow.
bool plain_fixed(std::string_view text, int digits, std::uint64_t& value) {
  if (text.empty() || !is_digit(text.front())) return false;
  std::size_t at = 0;
  value = 0;
  const auto whole_digits_max = static_cast<std::size_t>(19 - digits);
  while (at < text.size() && is_digit(text[at]) && at <= whole_digits_max) {
    value = 10 * value + static_cast<std::uint64_t>(text[at++] - '0');
  }
  if (at > whole_digits_max) return false;
  std::uint64_t unit = power_of_ten(digits);
  value *= unit;
  if (at == text.size()) return true;
  if (text[at++] != '.') return false;
  for (; at < text.size(); ++at) {
    if (!is_digit(text[at]) || unit == 1) return false;
    unit /= 10;
    value += unit * static_cast<std::uint64_t>(text[at] - '0');
  }
  return true;
}

}  // namespace

Result<double> parse_number(std::string_view text, double low, double high) {
  double value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error == std::errc::result_out_of_range) return outside(text, low, high);
  if (error != std::errc() || end != text.data() + text.size()) return not_a_number(text);
  if (!std::isfinite(value)) return invalid(quoted(text) + " is not a finite number");
  if (value < low || value > high) return outside(text, low, high);
  return value + 0.0;  // -0 becomes 0
}

Result<std::int64_t> parse_integer(std::string_view text, std::int64_t low, std::int64_t high) {
  std::int64_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  const auto bounds = [&] {
    return outside(text, static_cast<double>(low), static_cast<double>(high));
  };
  if (error == std::errc::result_out_of_range) return bounds();
  if (error != std::errc() || end != text.data() + text.size()) {
    return invalid(quoted(text) + " is not a whole number");
  }
  if (value < low || value > high) return bounds();
  return value;
}

Result<std::int64_t> parse_fixed(std::string_view text, int digits, double max) {
  const auto scale = static_cast<double>(power_of_ten(digits));
  std::uint64_t value = 0;
  if (!plain_fixed(text, digits, value)) {
    TRY_ASSIGN(const double number, parse_number(text, 0, max));
    return std::llround(number * scale);
  }
  if (static_cast<double>(value) > max * scale) return outside(text, 0, max);
  return static_cast<std::int64_t>(value);
}

Result<double> parse_speed(std::string_view text) {
  TRY_ASSIGN(const double speed, parse_number(text, 0, kSpeedMax));
  if (speed > 0 && speed < kSpeedMin) {
    return invalid(quoted(text) + " is so slow that an iteration takes more than 100 years");
  }
  return speed;
}

Status check_work(double iterations, double iteration_s) {
  const auto inside = [](double value, double low, double high) {
    return value >= low && value <= high;
  };
  if (!inside(iterations, kIterationsMin, kIterationsMax)) {
    return invalid(fmt::format("{:.6g} iterations are outside {:.10g} to {:.10g}", iterations,
                               kIterationsMin, kIterationsMax));
  }
  if (!inside(iteration_s, kTimeMin_s, kTimeMax_s)) {
    return invalid(fmt::format("an iteration of {:.6g} s is outside {:.10g} to {:.10g} s",
                               iteration_s, kTimeMin_s, kTimeMax_s));
  }
  if (!inside(iterations * iteration_s, kTimeMin_s, kTimeMax_s)) {
    return invalid(fmt::format("a duration of {:.6g} s is outside {:.10g} to {:.10g} s",
                               iterations * iteration_s, kTimeMin_s, kTimeMax_s));
  }
  return {};
}

Status check_name(std::string_view name) {
  if (name.size() > kNameBytesMax) {
    return invalid(fmt::format("a name of {} bytes is longer than {}", name.size(), kNameBytesMax));
  }
  while (!name.empty()) {
    const Utf8Character next = first_character(name);
    const bool control = next.code < 0x20 || (next.code >= 0x7f && next.code < 0xa0);
    if (next.bytes == 0 || control) {
      return invalid("a name may hold no control characters and must be UTF-8");
    }
    name.remove_prefix(next.bytes);
  }
  return {};
}

Error Row::wrong(std::size_t column, std::string_view what) const {
  return lines_.wrong(fmt::format("column '{}': {}", columns_[column], what));
}

Result<std::string_view> Row::name(std::size_t column) const {
  if (!given(column)) return wrong(column, "is empty");
  if (auto status = check_name(cells_[column]); !status.ok()) {
    return wrong(column, status.error().message);
  }
  return cells_[column];
}

Result<double> Row::number(std::size_t column, double low, double high) const {
  if (!given(column)) return wrong(column, "is empty");
  auto value = parse_number(cells_[column], low, high);
  if (!value.ok()) return wrong(column, value.error().message);
  return value;
}

Result<std::int64_t> Row::integer(std::size_t column, std::int64_t low, std::int64_t high) const {
  if (!given(column)) return wrong(column, "is empty");
  auto value = parse_integer(cells_[column], low, high);
  if (!value.ok()) return wrong(column, value.error().message);
  return value;
}

Result<std::int64_t> Row::fixed(std::size_t column, int digits, double max) const {
  if (!given(column)) return wrong(column, "is empty");
  auto value = parse_fixed(cells_[column], digits, max);
  if (!value.ok()) return wrong(column, value.error().message);
  return value;
}

}  // namespace orrery
