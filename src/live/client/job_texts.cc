#include "live/client/job_texts.h"

#include <fmt/format.h>
#include <signal.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <limits>
#include <optional>
#include <utility>

#include "model/duration_text.h"

namespace orrery {
namespace {

std::string_view shown(std::string_view text) { return text.substr(0, 60); }

template <class Number>
std::optional<Number> number(std::string_view text) {
  Number value{};
  const char* end = text.data() + text.size();
  const auto [rest, problem] = std::from_chars(text.data(), end, value);
  if (problem != std::errc() || rest != end) return {};
  return value;
}

// A-B:STEP, A-B or A.
struct Range {
  std::int64_t first = 0;
  std::int64_t last = 0;
  std::int64_t step = 1;
};

std::optional<Range> parse_range(std::string_view text, std::int64_t most) {
  Range range;
  const std::size_t colon = text.find(':');
  const std::string_view span = text.substr(0, colon);
  const std::size_t dash = span.find('-');
  const auto first = number<std::int64_t>(span.substr(0, dash));
  const auto last =
      dash == std::string_view::npos ? first : number<std::int64_t>(span.substr(dash + 1));
  if (!first || !last || *first < 0 || *last < *first || *last > most) return {};
  range.first = *first;
  range.last = *last;
  if (colon != std::string_view::npos) {
    const auto step = number<std::int64_t>(text.substr(colon + 1));
    if (!step || *step < 1 || *step > most || dash == std::string_view::npos) return {};
    range.step = *step;
  }
  return range;
}

// Ranges with commas between them, in the order they are written.
template <class Number>
Result<std::vector<Number>> parse_ranges(std::string_view text, const char* example) {
  std::vector<Number> numbers;
  for (std::string_view rest = text;;) {
    const std::size_t comma = rest.find(',');
    const auto range = parse_range(rest.substr(0, comma), std::numeric_limits<Number>::max() / 2);
    if (!range) return invalid(fmt::format("'{}': write numbers such as {}", shown(text), example));
    const auto count = static_cast<std::uint64_t>((range->last - range->first) / range->step) + 1;
    if (numbers.size() + count > kArrayMax) {
      return invalid(fmt::format("'{}' is more than {} numbers", shown(text), kArrayMax));
    }
    for (std::uint64_t i = 0; i < count; ++i) {
      numbers.push_back(
          static_cast<Number>(range->first + static_cast<std::int64_t>(i) * range->step));
    }
    if (comma == std::string_view::npos) break;
    rest.remove_prefix(comma + 1);
  }
  std::vector<Number> sorted = numbers;
  std::ranges::sort(sorted);
  if (const auto twice = std::ranges::adjacent_find(sorted); twice != sorted.end()) {
    return invalid(fmt::format("'{}' has {} twice", shown(text), *twice));
  }
  return numbers;
}

}  // namespace

Result<int> parse_whole(std::string_view text, int least, int most) {
  const auto value = number<std::int64_t>(text);
  if (value && *value >= least && *value <= most) return static_cast<int>(*value);
  return invalid(
      fmt::format("'{}': write a whole number between {} and {}", shown(text), least, most));
}

Result<std::int64_t> parse_cpus(std::string_view text) {
  constexpr double kMost = 100'000;
  const auto value = number<double>(text);
  if (value && *value >= 0.001 && *value <= kMost) return std::llround(*value * 1000);
  return invalid(fmt::format("'{}': write a number of CPUs such as 8 or 0.5", shown(text)));
}

Result<std::int64_t> parse_memory(std::string_view text) {
  constexpr std::array<std::pair<char, int>, 4> kUnits = {{{'K', 1}, {'M', 2}, {'G', 3}, {'T', 4}}};
  const std::size_t end = text.find_first_not_of("0123456789.");
  const std::string_view unit = end == std::string_view::npos ? "" : text.substr(end);
  const auto value = number<double>(text.substr(0, end));
  for (const auto& [letter, power] : kUnits) {
    if (!value || unit.empty() || unit.front() != letter) continue;
    const std::string_view rest = unit.substr(1);
    if (!rest.empty() && rest != "iB" && rest != "B") continue;
    const double bytes = *value * std::pow(rest == "B" ? 1000.0 : 1024.0, power);
    if (bytes >= 1 && bytes <= std::ldexp(1.0, 50)) return std::llround(bytes);
  }
  return invalid(fmt::format("'{}' is no amount of memory; write 500M, 16G or 1.5T", shown(text)));
}

std::string memory_text(std::int64_t bytes) {
  constexpr std::array<char, 5> kUnits = {'B', 'K', 'M', 'G', 'T'};
  auto value = static_cast<double>(bytes);
  std::size_t unit = 0;
  for (; value >= 1023.5 && unit + 1 < kUnits.size(); ++unit) value /= 1024;
  const int places = value == std::floor(value) || value >= 99.95 ? 0 : value >= 9.995 ? 1 : 2;
  return fmt::format("{:.{}f}{}", value, places, kUnits[unit]);
}

Result<std::pair<int, int>> parse_elastic(std::string_view text) {
  constexpr int kMost = 1'000'000;
  const std::size_t dots = text.find("..");
  if (dots != std::string_view::npos) {
    const auto least = number<int>(text.substr(0, dots));
    const auto most = number<int>(text.substr(dots + 2));
    if (least && most && *least >= 1 && *most >= *least && *most <= kMost) {
      return std::pair(*least, *most);
    }
  }
  return invalid(
      fmt::format("'{}': write the fewest and the most GPUs, such as 1..8", shown(text)));
}

Result<std::vector<int>> parse_array(std::string_view text) {
  return parse_ranges<int>(text, "1-100, 1,3,5-9 or 0-100:10");
}

Result<std::pair<int, Duration>> parse_early_signal(std::string_view text) {
  constexpr Duration kUsually = std::chrono::seconds(60);
  constexpr std::array<std::pair<std::string_view, int>, 10> kSignals = {{{"HUP", SIGHUP},
                                                                          {"INT", SIGINT},
                                                                          {"QUIT", SIGQUIT},
                                                                          {"ABRT", SIGABRT},
                                                                          {"USR1", SIGUSR1},
                                                                          {"USR2", SIGUSR2},
                                                                          {"ALRM", SIGALRM},
                                                                          {"TERM", SIGTERM},
                                                                          {"CONT", SIGCONT},
                                                                          {"XCPU", SIGXCPU}}};
  const std::size_t at = text.find('@');
  std::string_view name = text.substr(0, at);
  if (name.starts_with("SIG")) name.remove_prefix(3);
  const auto known = std::ranges::find(kSignals, name, &std::pair<std::string_view, int>::first);
  int number = 0;
  if (known != kSignals.end()) {
    number = known->second;
  } else if (auto whole = parse_whole(name, 1, 64); whole.ok()) {
    number = whole.value();
  } else {
    return invalid(
        fmt::format("'{}' is no signal; write USR1@60s, TERM@2m or 10@90s", text.substr(0, 60)));
  }
  if (at == std::string_view::npos) return std::pair(number, kUsually);
  TRY_ASSIGN(const Duration before, parse_duration(text.substr(at + 1)));
  return std::pair(number, before);
}

Result<std::vector<JobNumber>> parse_job_numbers(std::string_view text) {
  TRY_ASSIGN(std::vector<JobNumber> jobs, parse_ranges<JobNumber>(text, "17 or 17-20"));
  if (std::ranges::find(jobs, 0) != jobs.end()) {
    return invalid(fmt::format("'{}': jobs are numbered from 1", shown(text)));
  }
  return jobs;
}

}  // namespace orrery
