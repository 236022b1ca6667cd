#include "experiments/figures/reference_runs.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <fstream>

#include "workload/text/csv.h"

namespace orrery {
namespace {

enum Column : std::size_t {
  kTrace,
  kCluster,
  kSchedule,
  kRatio,
  kJct,
  kBestEffort,
  kEfficiency,
  kRc,
  kVariant,
  kColumns
};
constexpr std::array<std::string_view, kColumns> kNames = {
    "trace", "cluster", "schedule", "ddl_ratio", "avg_jct_s", "be_avg_jct_s", "avg_ce_timeweighted",
    "rc",    "variant"};
constexpr std::size_t kRequired = 4;

}  // namespace

Result<ReferenceRuns> ReferenceRuns::read(const std::string& path) {
  std::ifstream in(path, std::ios::binary);
  if (!in) return invalid(fmt::format("--reference {}: there is no such file", path));
  LineReader lines(path, in);
  TRY_ASSIGN(const bool any, lines.next());
  if (!any) return lines.wrong_file("is empty");
  const std::vector<std::string> header = csv_names(lines.line());
  std::array<std::optional<std::size_t>, kColumns> field_of;
  for (std::size_t i = 0; i < kColumns; ++i) {
    const auto found = std::ranges::find(header, kNames[i]);
    if (found != header.end()) field_of[i] = static_cast<std::size_t>(found - header.begin());
    if (!field_of[i] && i < kRequired) {
      return lines.wrong(fmt::format("has no column {}", kNames[i]));
    }
  }
  ReferenceRuns runs;
  CsvLine line;
  while (true) {
    TRY_ASSIGN(const bool more, lines.next());
    if (!more) return runs;
    auto split = line.split(lines.line());
    if (!split.ok()) return lines.wrong(split.error().message);
    const auto fields = split.value();
    if (fields.size() != header.size()) {
      return lines.wrong(fmt::format("has {} fields, the header {}", fields.size(), header.size()));
    }
    const auto text = [&](Column column) {
      return field_of[column] ? fields[*field_of[column]] : std::string_view();
    };
    if (!text(kRc).empty() && text(kRc) != "0") continue;
    if (!text(kVariant).empty() && text(kVariant) != "reference") continue;
    Run run;
    const auto number = [&](Column column, std::optional<double>& value) -> Status {
      if (text(column).empty()) return {};
      auto parsed = parse_number(text(column), 0, kTimeMax_s);
      if (!parsed.ok()) {
        return lines.wrong(fmt::format("{}: {}", kNames[column], parsed.error().message));
      }
      value = parsed.value();
      return {};
    };
    TRY(number(kRatio, run.deadline_ratio));
    TRY(number(kJct, run.avg_jct_s));
    TRY(number(kBestEffort, run.best_effort_avg_jct_s));
    TRY(number(kEfficiency, run.cluster_efficiency));
    runs.runs_.insert_or_assign(
        {std::string(text(kTrace)), std::string(text(kCluster)), std::string(text(kSchedule))},
        run);
  }
}

const ReferenceRuns::Run* ReferenceRuns::find(std::string_view trace, std::string_view cluster,
                                              std::string_view schedule) const {
  const auto run = runs_.find({std::string(trace), std::string(cluster), std::string(schedule)});
  return run == runs_.end() ? nullptr : &run->second;
}

}  // namespace orrery
