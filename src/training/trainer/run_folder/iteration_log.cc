#include "training/trainer/run_folder/iteration_log.h"

#include <fmt/format.h>

#include <array>
#include <charconv>
#include <cmath>
#include <map>
#include <string_view>

#include "base/files.h"

namespace orrery {
namespace {

constexpr std::size_t kLargest = std::size_t{1} << 30;
constexpr std::array<std::string_view, 13> kColumns = {
    "time_s", "worker", "task",      "took_s",          "samples",        "staleness",
    "loss",   "norm2",  "cpu_share", "throttled_share", "in_bytes_per_s", "out_bytes_per_s",
    "way_s"};
constexpr std::size_t kColumnsOnce = 12;  // logs of earlier runs have no more

std::string header(std::size_t columns) {
  std::string text;
  for (std::size_t i = 0; i < columns; ++i) {
    if (i > 0) text += ',';
    text += kColumns[i];
  }
  return text;
}

// The numbers of a line; false: it is not as many, or one of them is none.
bool numbers_of(std::string_view line, std::size_t columns,
                std::array<double, kColumns.size()>& numbers) {
  for (std::size_t i = 0; i < columns; ++i) {
    const auto [end, problem] = std::from_chars(line.data(), line.data() + line.size(), numbers[i]);
    if (problem != std::errc{} || !std::isfinite(numbers[i])) return false;
    line.remove_prefix(static_cast<std::size_t>(end - line.data()));
    if (i + 1 == columns) return line.empty();
    if (!line.starts_with(',')) return false;
    line.remove_prefix(1);
  }
  return false;
}

}  // namespace

Result<std::vector<IterationHistory>> parse_iterations(const std::string& text) {
  std::map<WorkerId, IterationHistory> series;
  std::string_view rest = text;
  std::size_t columns = kColumns.size();
  for (int number = 1; !rest.empty(); ++number) {
    const std::size_t end = std::min(rest.find('\n'), rest.size());
    const std::string_view line = rest.substr(0, end);
    rest.remove_prefix(std::min(end + 1, rest.size()));
    if (number == 1) {
      if (line == header(kColumnsOnce)) columns = kColumnsOnce;
      if (line == header(columns)) continue;
      return invalid(fmt::format("line 1: the columns are not {}", header(columns)));
    }
    std::array<double, kColumns.size()> n{};
    // A run that was killed leaves half a line at the end.
    if (!numbers_of(line, columns, n) && rest.empty()) break;
    if (!numbers_of(line, columns, n) || !(n[3] > 0) || !(n[4] >= 1) || std::abs(n[1]) > 1e6) {
      return invalid(fmt::format("line {}: not a task with a time and samples", number));
    }
    const WorkerId worker{static_cast<std::int32_t>(n[1])};
    series[worker].worker = worker;
    series[worker].samples.push_back({.worker = worker,
                                      .task = static_cast<std::int64_t>(n[2]),
                                      .at = time_from_seconds(n[0]),
                                      .took = from_seconds(n[3]),
                                      .samples = static_cast<std::int32_t>(n[4]),
                                      .staleness = static_cast<ParameterVersion>(n[5]),
                                      .loss = n[6],
                                      .norm2 = n[7],
                                      .usage = {.cpu_share = n[8],
                                                .throttled_share = n[9],
                                                .in_bytes_per_s = n[10],
                                                .out_bytes_per_s = n[11],
                                                .way_s = n[12]}});
  }
  std::vector<IterationHistory> all;
  for (auto& [worker, history] : series) all.push_back(std::move(history));
  return all;
}

Result<std::vector<IterationHistory>> read_iterations(const std::string& folder) {
  const std::string path = folder + "/iterations.csv";
  TRY_ASSIGN(const std::string text, read_file(path, kLargest));
  auto read = parse_iterations(text);
  if (!read.ok()) return std::move(read).error().at(path);
  return read;
}

}  // namespace orrery
