#include "experiments/figures/synergy_reference.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <cmath>
#include <fstream>
#include <numeric>

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
  std::array<std::size_t, kNames.size()> required{};
  std::iota(required.begin(), required.end(), std::size_t{0});
  TRY_ASSIGN(CsvTable file, CsvTable::open(lines, kNames, required, {.other_columns = true}));
  ReferenceTable table;
  const Row& row = file.row();
  while (true) {
    TRY_ASSIGN(const bool more, file.next());
    if (!more) return table;
    if (row[kSystem] != "synergy" || row[kStatus] != "ok") continue;
    auto& figures =
        table.rows_[key(fmt::format("{};{};{};{};{};{}", row[kLoad], row[kGpus], row[kSplit],
                                    row[kWindow], row[kCluster], row[kTrace]),
                        fmt::format("{}+{}", lower(row[kPolicy]), row[kVariant]))];
    for (std::size_t i = kFirstFigure; i < kNames.size(); ++i) {
      if (!row.given(i)) continue;
      TRY_ASSIGN(const double value, row.number(i, 0, kTimeMax_s));
      figures[static_cast<Metric>(i - kFirstFigure)] = {value, rounding(row[i])};
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
