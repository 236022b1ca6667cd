#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <map>
#include <optional>
#include <tuple>

#include "workload/formats/row.h"
#include "workload/profiles/speed_profiles.h"
#include "workload/text/csv.h"

namespace orrery {
namespace {

constexpr std::string_view kBatchColumn = "global_batch_size";

enum Column : std::size_t { kModel, kBatch, kType, kGpus, kNodes, kSpeed };
constexpr auto kColumns = std::to_array<std::string_view>(
    {"model", "batch_size", "gpu_type", "gpus", "nodes", "iterations_per_s"});
constexpr std::array<std::size_t, 4> kRequired = {kModel, kBatch, kGpus, kSpeed};

bool is_nan(std::string_view text) { return text == "nan" || text == "NaN" || text == "NAN"; }

// Iterations a second; 0 where the table says that the job cannot run.
Result<double> read_speed(std::string_view text) {
  if (text.empty() || is_nan(text)) return 0.0;
  return parse_speed(text);
}

std::string place_of(std::string_view name, std::int64_t line) {
  return fmt::format("{}:{}", name, line);
}

// The GPU counts in the header of one of ElasticFlow's tables, in the order of its fields.
struct CountColumns {
  std::size_t batch = 0;
  std::vector<int> gpus;  // by field; 0 for the batch
};

Result<CountColumns> read_counts(const LineReader& lines, std::span<const std::string_view> names) {
  CountColumns columns;
  for (const std::string_view name : names) {
    if (name == kBatchColumn) {
      columns.batch = columns.gpus.size();
      columns.gpus.push_back(0);
      continue;
    }
    auto count = parse_integer(name, 1, kGpusMax);
    if (!count.ok()) {
      return lines.wrong(fmt::format("the header must be {} and numbers of GPUs: {}", kBatchColumn,
                                     count.error().message));
    }
    columns.gpus.push_back(static_cast<int>(count.value()));
  }
  std::vector<int> sorted = columns.gpus;
  std::ranges::sort(sorted);
  const auto twice = std::ranges::adjacent_find(sorted);
  if (twice == sorted.end()) return columns;
  return lines.wrong(*twice == 0 ? fmt::format("column '{}' comes twice", kBatchColumn)
                                 : fmt::format("column '{}' comes twice", *twice));
}

Result<SpeedProfiles::Entry> read_counts_row(const LineReader& lines, const CountColumns& columns,
                                             std::span<const std::string_view> fields) {
  if (fields.size() != columns.gpus.size()) {
    return lines.wrong(fmt::format("has {} fields, but the header names {} columns", fields.size(),
                                   columns.gpus.size()));
  }
  SpeedProfiles::Entry entry;
  auto batch = parse_integer(fields[columns.batch], 1, kBatchMax);
  if (!batch.ok()) {
    return lines.wrong(fmt::format("column '{}': {}", kBatchColumn, batch.error().message));
  }
  entry.batch_size = static_cast<int>(batch.value());
  for (std::size_t i = 0; i < fields.size(); ++i) {
    if (i == columns.batch) continue;
    auto speed = read_speed(fields[i]);
    if (!speed.ok()) {
      return lines.wrong(fmt::format("column '{}': {}", columns.gpus[i], speed.error().message));
    }
    if (speed.value() > 0) entry.curve.points.push_back({columns.gpus[i], speed.value()});
    if (!is_nan(fields[i])) entry.curve.widest = std::max(entry.curve.widest, columns.gpus[i]);
  }
  std::ranges::sort(entry.curve.points, {}, &SpeedCurve::Point::gpus);
  return entry;
}

// A table of ElasticFlow's: the model is what the file is called.
Status read_elasticflow(std::string_view name, LineReader& lines, SpeedProfiles& profiles) {
  CsvLine cut;
  TRY(lines.next());
  auto header = cut.split(lines.line());
  if (!header.ok()) return lines.wrong(header.error().message);
  TRY_ASSIGN(const CountColumns columns, read_counts(lines, header.value()));
  const std::string model = std::filesystem::path(name).stem().string();
  if (auto named = check_name(model); !named.ok()) return lines.wrong_file(named.error().message);
  bool any = false;
  while (true) {
    TRY_ASSIGN(const bool more, lines.next());
    if (!more) break;
    any = true;
    const auto fields = cut.split(lines.line());
    if (!fields.ok()) return lines.wrong(fields.error().message);
    TRY_ASSIGN(SpeedProfiles::Entry entry, read_counts_row(lines, columns, fields.value()));
    entry.model = model;
    entry.place = place_of(name, lines.number());
    TRY(profiles.add(std::move(entry)));
  }
  if (!any) return lines.wrong_file("has a header but no rows");
  return {};
}

// What our own table says of one model, batch and type, before it is a curve.
struct Collected {
  struct Speed {
    double iterations_per_s = 0;
    std::int64_t line = 0;
  };
  std::int64_t line = 0;                          // the first
  std::map<std::pair<int, int>, Speed> by_shape;  // (GPUs, nodes); nodes 0: as close as they go
};
using Key = std::tuple<std::string, int, std::string>;  // model, batch, type

// Where the closest placement has no row of its own, that on the fewest nodes stands for it.
SpeedCurve curve_of(const Collected& collected) {
  SpeedCurve curve;
  for (const auto& [shape, speed] : collected.by_shape) {
    const auto [gpus, nodes] = shape;
    curve.widest = std::max(curve.widest, gpus);
    if (speed.iterations_per_s <= 0) continue;
    if (curve.points.empty() || curve.points.back().gpus != gpus) {
      curve.points.push_back({gpus, speed.iterations_per_s});
    }
    if (nodes > 0) curve.spreads.push_back({gpus, nodes, speed.iterations_per_s});
  }
  return curve;
}

Status read_ours_row(const Row& row, std::int64_t line, std::map<Key, Collected>& table) {
  TRY_ASSIGN(const std::string_view model, row.name(kModel));
  TRY_ASSIGN(const std::int64_t batch, row.integer(kBatch, 1, kBatchMax));
  std::string_view type;
  if (row.given(kType)) {
    TRY_ASSIGN(type, row.name(kType));
  }
  TRY_ASSIGN(const std::int64_t gpus, row.integer(kGpus, 1, kGpusMax));
  std::int64_t nodes = 0;
  if (row.given(kNodes)) {
    TRY_ASSIGN(nodes, row.integer(kNodes, 1, gpus));
  }
  auto speed = read_speed(row[kSpeed]);
  if (!speed.ok()) return row.wrong(kSpeed, speed.error().message);
  Collected& collected = table[Key(std::string(model), static_cast<int>(batch), std::string(type))];
  if (collected.line == 0) collected.line = line;
  const auto [place, fresh] =
      collected.by_shape.try_emplace(std::pair(static_cast<int>(gpus), static_cast<int>(nodes)),
                                     Collected::Speed{speed.value(), line});
  if (fresh) return {};
  return row.wrong(fmt::format("{} with batch {} on {} GPUs was given before, in line {}", model,
                               batch, gpus, place->second.line));
}

Status read_ours(std::string_view name, LineReader& lines, SpeedProfiles& profiles) {
  TRY_ASSIGN(CsvTable rows, CsvTable::open(lines, kColumns, kRequired));
  std::map<Key, Collected> table;
  while (true) {
    TRY_ASSIGN(const bool more, rows.next());
    if (!more) break;
    TRY(read_ours_row(rows.row(), lines.number(), table));
  }
  if (table.empty()) return lines.wrong_file("has a header but no rows");
  for (const auto& [key, collected] : table) {
    const auto& [model, batch, type] = key;
    TRY(profiles.add({.model = model,
                      .batch_size = batch,
                      .gpu_type = type,
                      .curve = curve_of(collected),
                      .place = place_of(name, collected.line)}));
  }
  return {};
}

// `lines` holds the header.
Status read_table(std::string_view name, LineReader& lines, SpeedProfiles& profiles) {
  const std::vector<std::string> names = csv_names(lines.line());
  const auto has = [&](std::string_view column) {
    return std::ranges::find(names, column) != names.end();
  };
  if (has(kBatchColumn)) return read_elasticflow(name, lines, profiles);
  if (has(kColumns[kSpeed])) return read_ours(name, lines, profiles);
  return lines.wrong(
      fmt::format("is no table of speeds: the header has neither the column '{}' (ElasticFlow's, "
                  "then numbers of "
                  "GPUs) nor '{}' (ours: {}) nor 'cpus_per_gpu' (ours, over CPUs and memory)",
                  kBatchColumn, kColumns[kSpeed], fmt::join(kColumns, ",")));
}

Status read_file(const std::string& path, Profiles& profiles) {
  std::ifstream in(path, std::ios::binary);
  if (!in) return invalid(fmt::format("{}: cannot be opened: {}", path, std::strerror(errno)));
  LineReader lines(path, in);
  TRY_ASSIGN(const bool any, lines.next());
  if (!any) return lines.wrong_file("is empty");
  lines.hold();
  if (is_sensitivity_table(lines.line())) {
    return read_sensitivity_table(path, lines, profiles.sensitivities);
  }
  return read_table(path, lines, profiles.speeds);
}

}  // namespace

Result<SpeedProfiles> parse_profiles(std::string_view name, std::istream& in) {
  SpeedProfiles profiles{std::string(name)};
  LineReader lines(name, in);
  TRY_ASSIGN(const bool any, lines.next());
  if (!any) return lines.wrong_file("is empty");
  lines.hold();
  TRY(read_table(name, lines, profiles));
  return profiles;
}

Result<Profiles> read_all_profiles(const std::string& path) {
  Profiles profiles{.speeds = SpeedProfiles(path), .sensitivities = {}};
  if (path.empty()) return profiles;
  std::error_code error;
  if (!std::filesystem::is_directory(path, error)) {
    TRY(read_file(path, profiles));
    return profiles;
  }
  std::vector<std::string> files;
  for (std::filesystem::directory_iterator entry(path, error), end; !error && entry != end;
       entry.increment(error)) {
    if (entry->path().extension() == ".csv") files.push_back(entry->path().string());
  }
  if (error) return invalid(fmt::format("{}: cannot be read: {}", path, error.message()));
  if (files.empty()) return invalid(fmt::format("{}: has no *.csv with speed profiles", path));
  std::ranges::sort(files);  // the folder's own order is no order
  for (const std::string& file : files) TRY(read_file(file, profiles));
  return profiles;
}

Result<SpeedProfiles> read_profiles(const std::string& path) {
  TRY_ASSIGN(Profiles profiles, read_all_profiles(path));
  return std::move(profiles.speeds);
}

}  // namespace orrery
