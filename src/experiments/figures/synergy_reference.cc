#include "experiments/figures/synergy_reference.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <cmath>
#include <fstream>

#include "workload/text/csv.h"

namespace orrery::synergy {
namespace {

enum Column : std::size_t {
  kSystem,
  kPolicy,
  kVariant,
  kStatus,
  kLoad,
  kGpus,
  kSplit,
  kWindow,
  kCluster,
  kTrace,
  kFirstFigure
};
constexpr std::array<std::string_view, kFirstFigure + 6> kNames = {
    "system",     "policy",        "variant",       "status",       "load_jobs_per_h", "gpus",
    "split",      "window",        "cluster",       "trace",        "avg_jct_h",       "p99_jct_h",
    "makespan_h", "gpu_alloc_pct", "cpu_alloc_pct", "mem_alloc_pct"};

std::string lower(std::string_view text) {
  std::string out(text);
  std::ranges::transform(out, out.begin(), [](unsigned char c) { return std::tolower(c); });
  return out;
}

// Half of the last digit, and as much again as binary fractions need to lie on either side.
double rounding(std::string_view text) {
  const std::size_t point = text.find('.');
  const std::size_t digits = point == std::string_view::npos ? 0 : text.size() - point - 1;
  return 0.5000001 * std::pow(10, -static_cast<double>(digits));
}

std::string key(std::string_view setting, std::string_view policy) {
  return fmt::format("{};{}", setting, policy);
}

}  // namespace

Result<ReferenceTable> ReferenceTable::read(const std::string& path) {
  std::ifstream in(path, std::ios::binary);
  if (!in) return invalid(fmt::format("--reference {}: there is no such file", path));
  LineReader lines(path, in);
  TRY_ASSIGN(const bool any, lines.next());
  if (!any) return lines.wrong_file("is empty");
  const std::vector<std::string> header = csv_names(lines.line());
  std::array<std::size_t, kNames.size()> field_of{};
  for (std::size_t i = 0; i < kNames.size(); ++i) {
    const auto found = std::ranges::find(header, kNames[i]);
    if (found == header.end()) return lines.wrong(fmt::format("has no column {}", kNames[i]));
    field_of[i] = static_cast<std::size_t>(found - header.begin());
  }
  ReferenceTable table;
  CsvLine line;
  while (true) {
    TRY_ASSIGN(const bool more, lines.next());
    if (!more) return table;
    auto split = line.split(lines.line());
    if (!split.ok()) return lines.wrong(split.error().message);
    const auto fields = split.value();
    if (fields.size() != header.size()) {
      return lines.wrong(fmt::format("has {} fields, the header {}", fields.size(), header.size()));
    }
    const auto text = [&](std::size_t column) { return fields[field_of[column]]; };
    if (text(kSystem) != "synergy" || text(kStatus) != "ok") continue;
    auto& figures =
        table.rows_[key(fmt::format("{};{};{};{};{};{}", text(kLoad), text(kGpus), text(kSplit),
                                    text(kWindow), text(kCluster), text(kTrace)),
                        fmt::format("{}+{}", lower(text(kPolicy)), text(kVariant)))];
    for (std::size_t i = kFirstFigure; i < kNames.size(); ++i) {
      if (text(i).empty()) continue;
      auto parsed = parse_number(text(i), 0, kTimeMax_s);
      if (!parsed.ok()) {
        return lines.wrong(fmt::format("{}: {}", kNames[i], parsed.error().message));
      }
      figures[static_cast<Metric>(i - kFirstFigure)] = {parsed.value(), rounding(text(i))};
    }
  }
}

const ReferenceTable::Entry* ReferenceTable::find(std::string_view setting, std::string_view policy,
                                                  Metric metric) const {
  const auto row = rows_.find(key(setting, policy));
  if (row == rows_.end()) return nullptr;
  const auto figure = row->second.find(metric);
  return figure == row->second.end() ? nullptr : &figure->second;
}

}  // namespace orrery::synergy
