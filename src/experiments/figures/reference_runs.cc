#include "experiments/figures/reference_runs.h"

#include <fmt/format.h>

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
constexpr std::array<std::size_t, 4> kRequired = {kTrace, kCluster, kSchedule, kRatio};

}  // namespace

Result<ReferenceRuns> ReferenceRuns::read(const std::string& path) {
  std::ifstream in(path, std::ios::binary);
  if (!in) return invalid(fmt::format("--reference {}: there is no such file", path));
  LineReader lines(path, in);
  TRY_ASSIGN(CsvTable table, CsvTable::open(lines, kNames, kRequired, {.other_columns = true}));
  ReferenceRuns runs;
  const Row& row = table.row();
  const auto read_figure = [&](Column column, std::optional<double>& figure) -> Status {
    if (!row.given(column)) return {};
    TRY_ASSIGN(figure, row.number(column, 0, kTimeMax_s));
    return {};
  };
  while (true) {
    TRY_ASSIGN(const bool more, table.next());
    if (!more) return runs;
    if (row.given(kRc) && row[kRc] != "0") continue;
    if (row.given(kVariant) && row[kVariant] != "reference") continue;
    Run run;
    TRY(read_figure(kRatio, run.deadline_ratio));
    TRY(read_figure(kJct, run.avg_jct_s));
    TRY(read_figure(kBestEffort, run.best_effort_avg_jct_s));
    TRY(read_figure(kEfficiency, run.cluster_efficiency));
    runs.runs_.insert_or_assign(
        {std::string(row[kTrace]), std::string(row[kCluster]), std::string(row[kSchedule])}, run);
  }
}

const ReferenceRuns::Run* ReferenceRuns::find(std::string_view trace, std::string_view cluster,
                                              std::string_view schedule) const {
  const auto run = runs_.find({std::string(trace), std::string(cluster), std::string(schedule)});
  return run == runs_.end() ? nullptr : &run->second;
}

}  // namespace orrery
