#include <array>

#include "workload/formats/logged_jobs.h"
#include "workload/text/csv.h"

namespace orrery {
namespace {

enum Column : std::size_t { kJob, kSubmit, kDuration, kGpus };
constexpr auto kColumns =
    std::to_array<std::string_view>({"job_id", "submission_time", "duration", "num_gpu"});
constexpr std::array<std::size_t, 4> kRequired = {kJob, kSubmit, kDuration, kGpus};

Result<bool> read_job(const Row& row, WorkloadBuilder& builder, JobSpec& job) {
  LoggedJob logged;
  TRY_ASSIGN(job.name, row.name(kJob));
  TRY_ASSIGN(logged.gpus, read_count(row, kGpus, kGpusMax));
  TRY_ASSIGN(logged.submitted, read_seconds(row, kSubmit));
  TRY_ASSIGN(const auto duration, read_seconds(row, kDuration));
  if (logged.submitted && duration) {
    logged.started = logged.submitted;
    logged.ended = *logged.submitted + *duration;
  }
  return accept(logged, row.line(), builder, job);
}

Status read(LineReader& lines, WorkloadBuilder& builder) {
  TRY_ASSIGN(CsvTable table, CsvTable::open(lines, kColumns, kRequired));
  return add_logged_jobs(table, builder,
                         [&](const Row& row, JobSpec& job) { return read_job(row, builder, job); });
}

}  // namespace

const TraceReader kElasticFlowRawTrace = {
    .format = {.name = "elasticflow-raw",
               .summary = "the public traces under ElasticFlow's: GPUs and durations only",
               .columns = "job_id,submission_time,duration,num_gpu"},
    .signature = kColumns,
    .read = read};

}  // namespace orrery
