#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "base/output_file.h"
#include "base/result.h"
#include "experiments/runs/runs.h"
#include "model/job.h"
#include "report/terminal/standard_output.h"

namespace orrery {

enum class Format { Table, Json, Csv };

// --json and --csv; an error if both are given.
Result<Format> format_of(bool json, bool csv);

// How the results of a command are shown.
struct RunsOutput {
  Format format = Format::Table;
  bool ratios = false;
  bool quiet = false;    // no warnings
  std::string report{};  // file for the page; empty: none
};

// Prints the runs, with their warnings on standard error, and writes the page. Code::Cancelled if
// the runs were interrupted.
Status show_runs(const RunsResult& result, const RunsOutput& output);

// A row for each job of each run; docs/formats/jobs-csv.md.
Status write_jobs_csv(const std::string& path, std::span<const ReportRun> runs,
                      const std::optional<JobWindow>& window);

// Prints on standard error in one line what was odd in the trace, if anything.
void print_oddities(const std::string& trace, const Workload& workload);

}  // namespace orrery
