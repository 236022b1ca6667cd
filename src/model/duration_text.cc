#include "model/duration_text.h"

#include <fmt/format.h>

#include <array>
#include <charconv>
#include <cmath>
#include <utility>

namespace orrery {
namespace {

using Unit = std::pair<std::string_view, double>;
constexpr std::array<Unit, 6> kUnits = {
    {{"d", 86400}, {"h", 3600}, {"m", 60}, {"s", 1}, {"ms", 1e-3}, {"", 1}}};

}  // namespace

Result<Duration> parse_duration(std::string_view text) {
  double value = 0;
  const char* end = text.data() + text.size();
  const auto [rest, problem] = std::from_chars(text.data(), end, value);
  const std::string_view unit(rest, static_cast<std::size_t>(end - rest));
  for (const auto& [name, unit_s] : kUnits) {
    if (problem != std::errc() || unit != name) continue;
    const double value_s = value * unit_s;
    if (!std::isfinite(value_s) || value_s < 0 || value_s > 3.2e9) break;
    return from_seconds(value_s);
  }
  return invalid(fmt::format("'{}' is no length of time; write 90, 90s, 15m, 2h or 7d", text));
}

std::string duration_text(Duration duration) {
  for (const auto& [name, unit_s] : kUnits) {
    const Duration unit = from_seconds(unit_s);
    if (duration != Duration::zero() && duration % unit == Duration::zero() && !name.empty()) {
      return fmt::format("{}{}", duration / unit, name);
    }
  }
  return fmt::format("{}s", seconds(duration));
}

std::string two_unit_text(Duration duration) {
  const auto all = std::chrono::ceil<std::chrono::seconds>(duration).count();
  if (all < 60) return fmt::format("{}s", all);
  if (all < 3600) return fmt::format("{}m{:02}s", all / 60, all % 60);
  if (all < 86400) return fmt::format("{}h{:02}m", all / 3600, all / 60 % 60);
  return fmt::format("{}d{:02}h", all / 86400, all / 3600 % 24);
}

}  // namespace orrery
