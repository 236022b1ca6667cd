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

constexpr auto kSignature = std::to_array<std::string_view>(
    {"job_id", "vc", "gpu_num", "submit_time", "start_time", "end_time"});

Result<bool> read_job(const Row& row, WorkloadBuilder& builder, JobSpec& job) {
  TRY_ASSIGN(const LoggedJob logged, read_dated(row, {kJob, kGpus, kSubmit, kStart, kEnd}, job));
  TRY_ASSIGN(const std::int64_t cpus, read_count(row, kCpus, static_cast<std::int64_t>(kCpusMax)));
  if (!accept(logged, row.line(), builder, job)) return false;
  job.cpu_milli = 1000 * cpus;
  TRY_ASSIGN(job.user, read_name(row, kUser, builder));
  return true;
}

Status read(LineReader& lines, WorkloadBuilder& builder) {
  builder.begin_at_first_submission();
  return read_log(lines, {kColumns, kRequired, read_job}, builder);
}

}  // namespace

const TraceReader kHeliosTrace = {
    .format = {.name = "helios",
               .summary = "SenseTime's Helios, cluster_log.csv: dates, users, CPUs",
               .columns = "job_id,[user],vc,gpu_num,[cpu_num],[node_num],[state],submit_time,"
                          "start_time,end_time,[duration],[queue]"},
    .signature = kSignature,
    .read = read,
    .file_in_folder = "cluster_log.csv"};

}  // namespace orrery
