#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string_view>
#include <utility>

#include "workload/formats/trace_reader.h"

namespace orrery {

// What the log of a real cluster says of one job. Such logs hold jobs that were cancelled before
// they ran, jobs without GPUs and clocks that went wrong; they are counted and left out.
struct LoggedJob {
  std::int64_t gpus = 0;
  std::optional<Duration> submitted{};
  std::optional<Duration> started{};
  std::optional<Duration> ended{};
};

// Sets GPUs, submission, work and start cost of the job. False: it cannot be run, and the builder
// has counted why.
bool accept(const LoggedJob& logged, std::int64_t line, WorkloadBuilder& builder, JobSpec& job);

// Sets the work of a job known by how long it ran alone: it is counted in seconds.
void set_duration(Duration duration, JobSpec& job);

// Cells of such logs. A time that is not known and a count that is not given are no error.
Result<std::optional<Duration>> read_date(const Row& row, std::size_t column);
Result<std::optional<Duration>> read_seconds(const Row& row, std::size_t column);
Result<std::int64_t> read_count(const Row& row, std::size_t column, std::int64_t max);
Result<NameId> read_name(const Row& row, std::size_t column, WorkloadBuilder& builder);

// Name, GPUs and dates of a job, from the columns that the logs of several clusters have.
struct DatedColumns {
  std::size_t name;
  std::size_t gpus;
  std::size_t submitted;
  std::size_t started;
  std::size_t ended;
};
Result<LoggedJob> read_dated(const Row& row, const DatedColumns& columns, JobSpec& job);

// A log that is one table with a header.
struct LogTable {
  std::span<const std::string_view> columns;  // other columns are passed over
  std::span<const std::size_t> required;
  // Fills the job. False: it cannot be run, and the builder has counted why.
  Result<bool> (*read_job)(const Row& row, WorkloadBuilder& builder, JobSpec& job);
};

Status read_log(LineReader& lines, const LogTable& log, WorkloadBuilder& builder);

// Adds the job; one with a name that is taken is counted and left out.
Status add_logged(JobSpec job, std::int64_t line, WorkloadBuilder& builder);

// Adds what read_job(row, job) makes of every row that is left in the table, unless it says false.
template <class ReadJob>
Status add_logged_jobs(CsvTable& table, WorkloadBuilder& builder, ReadJob read_job) {
  while (true) {
    TRY_ASSIGN(const bool more, table.next());
    if (!more) return {};
    JobSpec job;
    TRY_ASSIGN(const bool kept, read_job(table.row(), job));
    if (kept) TRY(add_logged(std::move(job), table.row().line(), builder));
  }
}

}  // namespace orrery
