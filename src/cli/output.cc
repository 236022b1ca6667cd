#include "cli/output.h"

#include <fmt/format.h>

#include <cstdio>
#include <filesystem>
#include <fstream>
#include <vector>

#include "report/csv.h"
#include "report/json.h"
#include "report/table.h"
#include "report/trace_summary.h"

namespace orrery {

void tell_oddities(const std::string& trace, const Workload& workload) {
  const std::string line = oddities_line(workload);
  if (line.empty()) return;
  std::fputs(fmt::format("{}: {}; `orrery traces` says which\n", trace, line).c_str(), stderr);
}

Status print_runs(std::span<const ReportRun> runs, Format format, bool ratios) {
  std::vector<RunSummary> summaries;
  for (const ReportRun& run : runs) summaries.push_back(run.summary);
  std::string text;
  if (format == Format::Json) text = to_json(summaries) + "\n";
  if (format == Format::Csv) text = to_csv(summaries);
  if (format == Format::Table) {
    text = table(summaries,
                 {.width = terminal_width(), .colour = terminal_has_colour(), .ratios = ratios});
  }
  return print_text(text);
}

Status write_file(const std::string& path, std::string_view text) {
  const std::string draft = path + ".part";
  {
    std::ofstream out(draft, std::ios::binary | std::ios::trunc);
    out.write(text.data(), static_cast<std::streamsize>(text.size()));
    out.close();
    if (!out) {
      std::error_code ignored;
      std::filesystem::remove(draft, ignored);
      return Error{
          Code::Unavailable,
          fmt::format("{}: cannot be written; is the folder there, and the disk not full?", path)};
    }
  }
  std::error_code problem;
  std::filesystem::rename(draft, path, problem);
  if (problem) return Error{Code::Unavailable, fmt::format("{}: {}", path, problem.message())};
  return {};
}

}  // namespace orrery
