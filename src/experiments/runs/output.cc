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

void tell_oddities(const std::string& trace, const Workload& workload) {
  const std::string line = oddities_line(workload);
  if (line.empty()) return;
  std::fputs(fmt::format("{}: {}; `orrery traces` says which\n", trace, line).c_str(), stderr);
}

void tell_warnings(std::span<const ReportRun> runs) {
  std::fputs(warning_lines(runs).c_str(), stderr);
}

Status print_runs(std::span<const ReportRun> runs, Format format, bool ratios) {
  const std::vector<RunSummary> summaries = compared_summaries(runs);
  std::string text;
  if (format == Format::Json) text = to_json(summaries) + "\n";
  if (format == Format::Csv) text = to_csv(summaries);
  if (format == Format::Table) {
    text = table(summaries,
                 {.width = terminal_width(), .colour = terminal_has_colour(), .ratios = ratios});
  }
  return print_text(text);
}

}  // namespace orrery
