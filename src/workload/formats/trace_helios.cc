#include <array>

#include "workload/formats/logged_jobs.h"
#include "workload/text/csv.h"

namespace orrery {
namespace {

enum Column : std::size_t {
  kJob,
  kUser,
  kVirtualCluster,
  kGpus,
  kCpus,
  kNodes,
  kState,
  kSubmit,
  kStart,
  kEnd,
  kDuration,
  kQueue,
};
constexpr auto kColumns = std::to_array<std::string_view>(
    {"job_id", "user", "vc", "gpu_num", "cpu_num", "node_num", "state", "submit_time", "start_time",
     "end_time", "duration", "queue"});
constexpr std::array<std::size_t, 5> kRequired = {kJob, kGpus, kSubmit, kStart, kEnd};

std::string refusal(std::string_view first_line) {
  static constexpr auto kTold = std::to_array<std::string_view>(
      {"job_id", "vc", "gpu_num", "submit_time", "start_time", "end_time"});
  return missing_column(first_line, kTold);
}

Result<bool> read_job(const Row& row, WorkloadBuilder& builder, JobSpec& job) {
  LoggedJob logged;
  TRY_ASSIGN(job.name, row.name(kJob));
  TRY_ASSIGN(logged.gpus, read_count(row, kGpus, kGpusMax));
  TRY_ASSIGN(logged.submitted, read_date(row, kSubmit));
  TRY_ASSIGN(logged.started, read_date(row, kStart));
  TRY_ASSIGN(logged.ended, read_date(row, kEnd));
  TRY_ASSIGN(const std::int64_t cpus, read_count(row, kCpus, static_cast<std::int64_t>(kCpusMax)));
  if (!accept(logged, row.line(), builder, job)) return false;
  job.cpu_milli = 1000 * cpus;
  TRY_ASSIGN(job.user, read_name(row, kUser, builder));
  return true;
}

Status read(LineReader& lines, WorkloadBuilder& builder) {
  TRY_ASSIGN(CsvTable table, CsvTable::open(lines, kColumns, kRequired, {.other_columns = true}));
  builder.begin_at_first_submission();
  return add_logged_jobs(table, builder,
                         [&](const Row& row, JobSpec& job) { return read_job(row, builder, job); });
}

}  // namespace

const TraceReader kHeliosTrace = {
    .format = {.name = "helios",
               .summary = "SenseTime's Helios, cluster_log.csv: dates, users, CPUs",
               .columns = "job_id,[user],vc,gpu_num,[cpu_num],[node_num],[state],submit_time,"
                          "start_time,end_time,[duration],[queue]"},
    .refusal = refusal,
    .read = read,
    .file_in_folder = "cluster_log.csv"};

}  // namespace orrery
