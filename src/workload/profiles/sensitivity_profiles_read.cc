#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <istream>
#include <map>
#include <optional>
#include <set>
#include <tuple>

#include "workload/formats/orrery_columns.h"
#include "workload/formats/row.h"
#include "workload/profiles/sensitivity_profiles.h"
#include "workload/text/csv.h"
#include "workload/text/fixed_text.h"

namespace orrery {
namespace {

enum Column : std::size_t {
  kModelName,
  kBatch,
  kType,
  kIterationTime,
  kCpusPerGpu,
  kMemoryPerGpu,
  kSpeed,
  kKnee
};
constexpr auto kColumns =
    std::to_array<std::string_view>({"model", "batch_size", "gpu_type", "iteration_s",
                                     "cpus_per_gpu", "memory_gb_per_gpu", "speed", "knee"});
constexpr std::array<std::size_t, 5> kRequired = {kModelName, kIterationTime, kCpusPerGpu,
                                                  kMemoryPerGpu, kSpeed};

// Speeds are measured, and measurements scatter. A fall beyond this is no scatter: more likely
// the file holds seconds for speeds.
constexpr double kScatter = 0.1;

using Point = std::pair<std::int64_t, std::int64_t>;  // CPUs in thousandths, bytes

// What the table says of one model, batch and type.
struct Collected {
  struct Speed {
    double speed = 0;
    std::int64_t line = 0;
  };
  std::int64_t line = 0;  // the first
  double iteration_s = 0;
  double knee = kKneeShare;
  std::map<Point, Speed> by_point;
};
using Key = std::tuple<std::string, int, std::string>;  // model, batch, type

std::string text_of(const Point& point) {
  return fmt::format("{} CPUs and {} GB", fixed_text(point.first, kCpuDigits),
                     fixed_text(point.second, kGigabyteDigits));
}

// The same on every row of a model.
Status check_constant(const Row& row, std::size_t column, double value, double before) {
  if (value == before) return {};
  return row.wrong(column, fmt::format("is {} here and {} in a row before it; it belongs to the "
                                       "model, not to the point",
                                       value, before));
}

Result<Key> read_key(const Row& row) {
  Key key;
  auto& [model, batch, type] = key;
  TRY_ASSIGN(model, row.name(kModelName));
  if (row.given(kBatch)) {
    TRY_ASSIGN(const std::int64_t size, row.integer(kBatch, 1, kBatchMax));
    batch = static_cast<int>(size);
  }
  if (row.given(kType)) {
    TRY_ASSIGN(type, row.name(kType));
  }
  return key;
}

Status read_row(const Row& row, std::int64_t line, std::map<Key, Collected>& table) {
  TRY_ASSIGN(Key key, read_key(row));
  TRY_ASSIGN(const double iteration_s, row.number(kIterationTime, kTimeMin_s, kTimeMax_s));
  double knee_share = kKneeShare;
  if (row.given(kKnee)) {
    TRY_ASSIGN(knee_share, row.number(kKnee, 0.01, 1));
  }
  Point point;
  TRY_ASSIGN(point.first, row.fixed(kCpusPerGpu, kCpuDigits, kCpusMax));
  if (point.first == 0) return row.wrong(kCpusPerGpu, "no job runs without a CPU");
  TRY_ASSIGN(point.second, row.fixed(kMemoryPerGpu, kGigabyteDigits, kMemoryMax_gb));
  TRY_ASSIGN(const double speed, row.number(kSpeed, kHostSpeedMin, kHostSpeedMax));
  Collected& collected = table[std::move(key)];
  if (collected.line == 0) {
    collected.line = line;
    collected.iteration_s = iteration_s;
    collected.knee = knee_share;
  }
  TRY(check_constant(row, kIterationTime, iteration_s, collected.iteration_s));
  TRY(check_constant(row, kKnee, knee_share, collected.knee));
  const auto [place, fresh] = collected.by_point.try_emplace(point, Collected::Speed{speed, line});
  if (fresh) return {};
  return row.wrong(
      fmt::format("{} were given before, in line {}", text_of(point), place->second.line));
}

// A job with more than it can use leaves the rest alone, so no point is slower than one with no
// more of either; speeds that scatter are raised to that.
Status raise_dips(std::string_view name, const std::vector<std::int64_t>& lines,
                  Sensitivity& sensitivity) {
  const std::size_t columns = sensitivity.memory_bytes.size();
  for (std::size_t i = 0; i < sensitivity.speed.size(); ++i) {
    double below = 0;
    if (i >= columns) below = sensitivity.speed[i - columns];
    if (i % columns > 0) below = std::max(below, sensitivity.speed[i - 1]);
    double& speed = sensitivity.speed[i];
    if (speed < (1 - kScatter) * below) {
      return invalid(fmt::format(
          "{}:{}: a speed of {}, but {} with fewer CPUs or less memory; are these seconds?", name,
          lines[i], speed, below));
    }
    speed = std::max(speed, below);
  }
  return {};
}

Result<Sensitivity> sensitivity_of(std::string_view name, const std::string& model,
                                   const Collected& collected) {
  std::set<std::int64_t> cpus;
  std::set<std::int64_t> memory;
  for (const auto& [point, speed] : collected.by_point) {
    cpus.insert(point.first);
    memory.insert(point.second);
  }
  if (std::max(cpus.size(), memory.size()) > kHostPointsMax) {
    return invalid(
        fmt::format("{}:{}: {} has {} numbers of CPUs and {} sizes of memory; {} of each "
                    "are the most",
                    name, collected.line, model, cpus.size(), memory.size(), kHostPointsMax));
  }
  Sensitivity sensitivity;
  sensitivity.cpu_milli.assign(cpus.begin(), cpus.end());
  sensitivity.memory_bytes.assign(memory.begin(), memory.end());
  std::vector<std::int64_t> lines;
  auto next = collected.by_point.begin();
  for (const std::int64_t cpu : cpus) {
    for (const std::int64_t bytes : memory) {
      const Point point(cpu, bytes);
      if (next == collected.by_point.end() || next->first != point) {
        return invalid(
            fmt::format("{}:{}: {} has no row for {}; every number of CPUs must come "
                        "with every size of memory",
                        name, collected.line, model, text_of(point)));
      }
      sensitivity.speed.push_back(next->second.speed);
      lines.push_back(next->second.line);
      ++next;
    }
  }
  TRY(raise_dips(name, lines, sensitivity));
  sensitivity.ideal = knee(sensitivity, collected.knee);
  return sensitivity;
}

}  // namespace

bool is_sensitivity_table(std::string_view header) {
  const std::vector<std::string> names = csv_names(header);
  return std::ranges::find(names, kColumns[kCpusPerGpu]) != names.end();
}

Status read_sensitivity_table(std::string_view name, LineReader& lines,
                              SensitivityProfiles& profiles) {
  TRY_ASSIGN(CsvTable rows, CsvTable::open(lines, kColumns, kRequired));
  std::map<Key, Collected> table;
  while (true) {
    TRY_ASSIGN(const bool more, rows.next());
    if (!more) break;
    TRY(read_row(rows.row(), lines.number(), table));
  }
  if (table.empty()) return lines.wrong_file("has a header but no rows");
  for (const auto& [key, collected] : table) {
    const auto& [model, batch, type] = key;
    TRY_ASSIGN(Sensitivity sensitivity, sensitivity_of(name, model, collected));
    TRY(profiles.add({.model = model,
                      .batch_size = batch,
                      .gpu_type = type,
                      .iteration_s = collected.iteration_s,
                      .sensitivity = std::move(sensitivity),
                      .place = fmt::format("{}:{}", name, collected.line)}));
  }
  return {};
}

Result<SensitivityProfiles> parse_sensitivities(std::string_view name, std::istream& in) {
  LineReader lines(name, in);
  SensitivityProfiles profiles;
  TRY(read_sensitivity_table(name, lines, profiles));
  return profiles;
}

}  // namespace orrery
