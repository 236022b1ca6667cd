#include "workload/formats/logged_jobs.h"

#include <cmath>

#include "workload/profiles/muri_models.h"
#include "workload/text/date_text.h"

namespace orrery {
namespace {

constexpr int kNanoDigits = 9;

// Why the job cannot be run, as an Oddity says it; empty: it can.
std::string_view fault_of(const LoggedJob& logged) {
  if (!logged.submitted) return "has no time of submission";
  if (logged.gpus <= 0) return "asks for no GPU";
  if (!logged.started) return "never ran";
  if (!logged.ended) return "had not ended";
  if (*logged.ended < *logged.started) return "ends before it starts";
  if (*logged.ended == *logged.started) return "ran for no time";
  return {};
}

}  // namespace

void set_duration(Duration duration, JobSpec& job) {
  job.iterations = seconds(duration);
  job.iteration_s = 1;
  job.start_cost = std::chrono::seconds(kUnknownModelStart_s);
}

bool accept(const LoggedJob& logged, std::int64_t line, WorkloadBuilder& builder, JobSpec& job) {
  if (const std::string_view fault = fault_of(logged); !fault.empty()) {
    builder.note_left_out(fault, line);
    return false;
  }
  if (*logged.started < *logged.submitted) {
    builder.note_kept("starts before it is submitted", line);
  }
  job.gpus = static_cast<int>(logged.gpus);
  job.submitted = Time(*logged.submitted);
  set_duration(*logged.ended - *logged.started, job);
  return true;
}

Status add_logged(JobSpec job, std::int64_t line, WorkloadBuilder& builder) {
  TRY_ASSIGN(const bool added, builder.add_if_new(std::move(job)));
  if (!added) builder.note_left_out("has an id that was used before", line);
  return {};
}

Result<std::optional<Duration>> read_date(const Row& row, std::size_t column) {
  if (is_no_value(row[column])) return std::optional<Duration>();
  auto date = parse_date(row[column]);
  if (!date.ok()) return row.wrong(column, date.error().message);
  return std::optional(date.value());
}

Result<std::optional<Duration>> read_seconds(const Row& row, std::size_t column) {
  if (is_no_value(row[column])) return std::optional<Duration>();
  TRY_ASSIGN(const std::int64_t value_ns, row.fixed(column, kNanoDigits, kTimeMax_s));
  return std::optional(Duration(value_ns));
}

Result<std::int64_t> read_count(const Row& row, std::size_t column, std::int64_t max) {
  if (is_no_value(row[column])) return 0;
  // Tables that went through other tools say 8.0 for 8.
  if (row[column].find('.') == std::string_view::npos) return row.integer(column, 0, max);
  TRY_ASSIGN(const double value, row.number(column, 0, static_cast<double>(max)));
  if (value != std::floor(value)) return row.wrong(column, "is not a whole number");
  return static_cast<std::int64_t>(value);
}

Result<NameId> read_name(const Row& row, std::size_t column, WorkloadBuilder& builder) {
  if (!row.given(column)) return kNoName;
  TRY_ASSIGN(const std::string_view name, row.name(column));
  return builder.name_id(name);
}

Result<LoggedJob> read_dated(const Row& row, const DatedColumns& columns, JobSpec& job) {
  LoggedJob logged;
  TRY_ASSIGN(job.name, row.name(columns.name));
  TRY_ASSIGN(logged.gpus, read_count(row, columns.gpus, kGpusMax));
  TRY_ASSIGN(logged.submitted, read_date(row, columns.submitted));
  TRY_ASSIGN(logged.started, read_date(row, columns.started));
  TRY_ASSIGN(logged.ended, read_date(row, columns.ended));
  return logged;
}

Status read_log(LineReader& lines, const LogTable& log, WorkloadBuilder& builder) {
  TRY_ASSIGN(CsvTable table,
             CsvTable::open(lines, log.columns, log.required, {.other_columns = true}));
  return add_logged_jobs(table, builder, [&](const Row& row, JobSpec& job) {
    return log.read_job(row, builder, job);
  });
}

}  // namespace orrery
