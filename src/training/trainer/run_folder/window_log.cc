#include "training/trainer/run_folder/window_log.h"

#include <fmt/format.h>

#include <array>
#include <charconv>
#include <cmath>
#include <optional>
#include <string_view>

#include "base/files.h"

namespace orrery {
namespace {

constexpr std::size_t kLargestLog = std::size_t{1} << 28;
constexpr double kLatest_s = 1e9;
constexpr double kLastKind = 4;

struct WindowColumn {
  std::string_view name;
  double& (*of)(SelectorSample&);
  bool (*makes_sense)(double);
};

bool any(double) { return true; }
bool not_negative(double value) { return value >= 0; }
bool positive(double value) { return value > 0; }
bool kind(double value) { return value >= 0 && value <= kLastKind && value == std::floor(value); }
bool zero_or_one(double value) { return value == 0 || value == 1; }

// All but the time, which comes first.
using Sample = SelectorSample;
constexpr std::array<WindowColumn, kModeFeatures + 3> kWindowColumns = {{
    {"kind", [](Sample& s) -> double& { return s.features.kind; }, kind},
    {"x_share", [](Sample& s) -> double& { return s.features.x_share; }, not_negative},
    {"unequal_shares", [](Sample& s) -> double& { return s.features.unequal_shares; }, zero_or_one},
    {"gradients_ratio", [](Sample& s) -> double& { return s.features.gradients_ratio; },
     not_negative},
    {"staleness", [](Sample& s) -> double& { return s.features.staleness; }, not_negative},
    {"straggling", [](Sample& s) -> double& { return s.features.straggling; }, any},
    {"noise_ratio", [](Sample& s) -> double& { return s.features.noise_ratio; }, any},
    {"rate", [](Sample& s) -> double& { return s.features.rate; }, not_negative},
    {"phase", [](Sample& s) -> double& { return s.features.phase; }, any},
    {"compute_share", [](Sample& s) -> double& { return s.features.compute_share; }, any},
    {"ssgd_batch_s", [](Sample& s) -> double& { return s.ssgd_batch_s; }, positive},
    {"lambda", [](Sample& s) -> double& { return s.lambda; }, not_negative},
    {"loss_drop", [](Sample& s) -> double& { return s.loss_drop; }, any},
}};

// Takes a number off the front of a line, and the comma before it.
std::optional<double> next_number(std::string_view& line, bool first) {
  if (!first) {
    if (!line.starts_with(',')) return std::nullopt;
    line.remove_prefix(1);
  }
  double value = 0;
  const auto [end, problem] = std::from_chars(line.data(), line.data() + line.size(), value);
  if (problem != std::errc{} || !std::isfinite(value)) return std::nullopt;
  line.remove_prefix(static_cast<std::size_t>(end - line.data()));
  return value;
}

Result<SelectorSample> parse_window(std::string_view line) {
  const auto no_number = [](std::string_view column) {
    return invalid(fmt::format("'{}' is not a finite number", column));
  };
  SelectorSample window;
  const auto at = next_number(line, true);
  if (!at) return no_number("time_s");
  if (!(*at >= 0) || *at > kLatest_s) {
    return invalid(
        fmt::format("'time_s' is {}, and a window is made between 0 and {} s", *at, kLatest_s));
  }
  window.at = time_from_seconds(*at);
  for (const WindowColumn& column : kWindowColumns) {
    const auto value = next_number(line, false);
    if (!value) return no_number(column.name);
    if (!column.makes_sense(*value)) {
      return invalid(fmt::format("'{}' cannot be {}", column.name, *value));
    }
    column.of(window) = *value;
  }
  if (!line.empty()) return invalid("there is more than the columns of line 1");
  return window;
}

}  // namespace

std::string window_columns() {
  std::string text = "time_s";
  for (const WindowColumn& column : kWindowColumns) text += fmt::format(",{}", column.name);
  return text;
}

std::string window_line(const SelectorSample& window) {
  SelectorSample copy = window;
  std::string text = fmt::format("{:.6f}", seconds(window.at));
  for (const WindowColumn& column : kWindowColumns) text += fmt::format(",{}", column.of(copy));
  return text;
}

Result<std::vector<SelectorSample>> parse_windows(const std::string& text) {
  std::vector<SelectorSample> windows;
  std::string_view rest = text;
  for (int number = 1;; ++number) {
    const std::size_t end = rest.find('\n');
    if (end == std::string_view::npos) break;  // a run that was killed leaves half a line
    const std::string_view line = rest.substr(0, end);
    rest.remove_prefix(end + 1);
    if (number == 1 && line == window_columns()) continue;
    if (number == 1)
      return invalid(fmt::format("line 1: the columns are not {}", window_columns()));
    auto window = parse_window(line);
    if (!window.ok()) return std::move(window).error().at(fmt::format("line {}", number));
    windows.push_back(std::move(window).value());
  }
  return windows;
}

Result<std::vector<SelectorSample>> read_windows(const std::string& folder) {
  const std::string path = folder + "/windows.csv";
  auto text = read_file(path, kLargestLog);
  if (!text.ok() && text.error().code == Code::NotFound) {
    return invalid(fmt::format(
        "{}: is not there; name the --dir of a run under --mode star, which makes one", path));
  }
  if (!text.ok()) return std::move(text).error();
  auto windows = parse_windows(text.value());
  if (windows.ok()) return windows;
  Error error = std::move(windows).error().at(path);
  error.message += "; mend or remove the line, or leave this run out";
  return error;
}

}  // namespace orrery
