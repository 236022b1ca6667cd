#include "experiments/sweep/sweep_results.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <map>

#include "base/output_file.h"
#include "report/csv.h"
#include "report/metrics/job_comparison.h"
#include "report/metrics/job_records.h"
#include "workload/text/csv.h"

namespace orrery {
namespace {

// Where the first line of a table ends; a quoted cell may hold line ends.
std::size_t end_of_line(std::string_view text) {
  bool quoted = false;
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (text[i] == '"') quoted = !quoted;
    if (text[i] == '\n' && !quoted) return i;
  }
  return text.size();
}

std::optional<double> number_in(std::string_view text) {
  double value = 0;
  const auto read = std::from_chars(text.data(), text.data() + text.size(), value);
  if (text.empty() || read.ec != std::errc()) return std::nullopt;
  return value;
}

Error damaged(std::size_t run) {
  return {Code::DataLoss, fmt::format("run {}: its record is no table", run)};
}

std::size_t job_column(std::string_view name) {
  static const std::vector<std::string> names = csv_names("run," + job_columns());
  return static_cast<std::size_t>(std::ranges::find(names, name) - names.begin());
}

Result<CompletedJobs> completed_jobs(const SweepJournal& journal, std::size_t run) {
  TRY_ASSIGN(const std::string record, journal.read(run));
  static const std::size_t jct = job_column("jct_s");
  static const std::size_t ended = job_column("ended_s");
  std::string_view rest = record;
  CompletedJobs completed;
  CsvLine cut;
  rest.remove_prefix(std::min(rest.size(), end_of_line(rest) + 1));
  for (std::size_t number = 0; !rest.empty(); ++number) {
    const std::size_t end = end_of_line(rest);
    const auto cells = cut.split(rest.substr(0, end));
    rest.remove_prefix(std::min(rest.size(), end + 1));
    if (!cells.ok() || cells.value().size() <= std::max(jct, ended)) return damaged(run);
    const auto jct_s = number_in(cells.value()[jct]);
    const auto ended_s = number_in(cells.value()[ended]);
    if (jct_s && ended_s) {
      completed.jobs.push_back({.number = number, .jct_s = *jct_s, .ended_s = *ended_s});
    }
  }
  return completed;
}

bool is_same_workload(const SweepPoint& a, const SweepPoint& b) {
  return a.trace == b.trace && a.reading.format == b.reading.format &&
         a.reading.limit == b.reading.limit && a.reading.profiles == b.reading.profiles &&
         a.reading.gpu_type == b.reading.gpu_type && a.run.window == b.run.window;
}

}  // namespace

std::optional<double> SweepResults::number(std::size_t run, std::string_view field) const {
  if (!has(run)) return std::nullopt;
  const auto found = std::ranges::find(fields_, field);
  if (found == fields_.end()) return std::nullopt;
  return number_in(rows_[run][static_cast<std::size_t>(found - fields_.begin())]);
}

Result<SweepResults> SweepResults::read(const SweepPlan& plan, const SweepJournal& journal) {
  SweepResults results;
  results.fields_ = field_names();
  results.rows_.resize(plan.points.size());
  TRY(results.read_rows(journal));
  TRY(results.compare(plan, journal));
  return results;
}

Status SweepResults::read_rows(const SweepJournal& journal) {
  CsvLine cut;
  for (std::size_t run = 0; run < rows_.size(); ++run) {
    if (!journal.has(run)) continue;
    TRY_ASSIGN(const std::string record, journal.read(run));
    const auto cells = cut.split(std::string_view(record).substr(0, end_of_line(record)));
    if (!cells.ok() || cells.value().size() != fields_.size()) return damaged(run);
    rows_[run].assign(cells.value().begin(), cells.value().end());
  }
  return {};
}

Status SweepResults::compare(const SweepPlan& plan, const SweepJournal& journal) {
  std::map<std::size_t, std::vector<std::size_t>> compared;
  for (std::size_t run = 0; run < rows_.size(); ++run) {
    const auto baseline = plan.baseline_of[run];
    if (!baseline || !has(run) || !has(*baseline)) continue;
    if (!is_same_workload(plan.points[run], plan.points[*baseline])) continue;
    compared[*baseline].push_back(run);
  }
  for (const auto& [baseline, runs] : compared) {
    TRY_ASSIGN(const CompletedJobs first, completed_jobs(journal, baseline));
    for (const std::size_t run : runs) {
      TRY_ASSIGN(const CompletedJobs jobs, completed_jobs(journal, run));
      RunSummary summary;
      summary.semantics = to_string(plan.points[run].run.semantics);
      compare_common_jobs(first, jobs, summary);
      const std::vector<std::string> values = field_values(summary);
      for (std::size_t i = 0; i < fields_.size(); ++i) {
        const bool is_common =
            fields_[i].starts_with("common_") || fields_[i].starts_with("first_common_");
        if (is_common) rows_[run][i] = values[i];
      }
    }
  }
  return {};
}

Status write_runs_csv(const std::string& path, const SweepPlan& plan, const SweepResults& results) {
  std::vector<std::string> cells = {"run"};
  for (std::size_t axis = 0; axis < plan.axes.size(); ++axis) cells.push_back(plan.column(axis));
  // A field that an axis has the name of is that axis.
  std::vector<std::size_t> fields;
  for (std::size_t i = 0; i < results.fields().size(); ++i) {
    if (std::ranges::find(cells, results.fields()[i]) == cells.end()) fields.push_back(i);
  }
  for (const std::size_t field : fields) cells.push_back(results.fields()[field]);
  TRY_ASSIGN(OutputFile file, OutputFile::open(path));
  TRY(file.write(csv_line(cells)));
  for (std::size_t run = 0; run < plan.points.size(); ++run) {
    if (!results.has(run)) continue;
    cells = {fmt::to_string(run)};
    for (std::size_t axis = 0; axis < plan.axes.size(); ++axis) {
      cells.emplace_back(plan.label(plan.points[run], axis));
    }
    for (const std::size_t field : fields) cells.push_back(results.row(run)[field]);
    TRY(file.write(csv_line(cells)));
  }
  return file.commit();
}

Status write_jobs_csv(const std::string& path, const SweepJournal& journal) {
  TRY_ASSIGN(OutputFile file, OutputFile::open(path));
  TRY(file.write("run," + job_columns() + "\n"));
  for (std::size_t run = 0; run < journal.runs(); ++run) {
    if (!journal.has(run)) continue;
    TRY_ASSIGN(const std::string record, journal.read(run));
    TRY(file.write(
        std::string_view(record).substr(std::min(record.size(), end_of_line(record) + 1))));
  }
  return file.commit();
}

}  // namespace orrery
