#include "experiments/runs/output.h"

#include <fmt/format.h>

#include <cstdio>
#include <vector>

#include "experiments/runs/warnings.h"
#include "report/csv.h"
#include "report/json.h"
#include "report/metrics/job_comparison.h"
#include "report/metrics/trace_summary.h"
#include "report/table.h"

namespace orrery {

Result<Format> format_of(bool json, bool csv) {
  if (json && csv) return invalid("--json and --csv exclude each other");
  return json ? Format::Json : csv ? Format::Csv : Format::Table;
}

Status show_runs(const RunsResult& result, const RunsOutput& output) {
  if (!output.quiet) std::fputs(warning_lines(result.runs).c_str(), stderr);
  const std::vector<RunSummary> summaries = compared_summaries(result.runs);
  std::string text;
  if (output.format == Format::Json) text = to_json(summaries) + "\n";
  if (output.format == Format::Csv) text = to_csv(summaries);
  if (output.format == Format::Table) {
    text = table(
        summaries,
        {.width = terminal_width(), .colour = terminal_has_colour(), .ratios = output.ratios});
  }
  TRY(print_text(text));
  if (!output.report.empty()) TRY(write_output(output.report, html_report(result.runs)));
  if (!result.interrupted) return {};
  return Error{Code::Cancelled, "interrupted: this is what is known so far"};
}

Status write_jobs_csv(const std::string& path, std::span<const ReportRun> runs,
                      const std::optional<JobWindow>& window) {
  TRY_ASSIGN(OutputFile file, OutputFile::open(path));
  TRY(file.write("trace,policy," + job_columns() + "\n"));
  for (const ReportRun& run : runs) {
    fmt::memory_buffer prefix;
    append_csv(prefix, run.summary.trace);
    prefix.push_back(',');
    append_csv(prefix, run.summary.policy);
    prefix.push_back(',');
    fmt::memory_buffer lines;
    append_job_lines(lines, {prefix.data(), prefix.size()}, *run.workload, run.jobs, window);
    TRY(file.write({lines.data(), lines.size()}));
  }
  return file.commit();
}

void print_oddities(const std::string& trace, const Workload& workload) {
  const std::string line = oddities_line(workload);
  if (line.empty()) return;
  std::fputs(fmt::format("{}: {}; `orrery traces` says which\n", trace, line).c_str(), stderr);
}

}  // namespace orrery
