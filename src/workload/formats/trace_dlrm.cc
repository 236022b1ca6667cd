#include <array>
#include <cmath>

#include "workload/formats/logged_jobs.h"
#include "workload/text/csv.h"

namespace orrery {
namespace {

enum Column : std::size_t {
  kInstance,
  kRole,
  kApp,
  kCpus,
  kGpus,
  kMemory,
  kCreated,
  kScheduled,
  kDeleted,
};
constexpr auto kColumns = std::to_array<std::string_view>(
    {"instance_sn", "role", "app_name", "cpu_request", "gpu_request", "memory_request",
     "creation_time", "scheduled_time", "deletion_time"});
constexpr std::array<std::size_t, 5> kRequired = {kInstance, kGpus, kCreated, kScheduled, kDeleted};
constexpr double kGibibyte = 1024.0 * 1024 * 1024;

constexpr auto kSignature = std::to_array<std::string_view>(
    {"instance_sn", "gpu_request", "creation_time", "scheduled_time", "deletion_time"});

Result<double> read_amount(const Row& row, std::size_t column, double max) {
  if (!row.given(column)) return 0.0;
  return row.number(column, 0, max);
}

Result<bool> read_job(const Row& row, WorkloadBuilder& builder, JobSpec& job) {
  LoggedJob logged;
  TRY_ASSIGN(job.name, row.name(kInstance));
  TRY_ASSIGN(logged.gpus, read_count(row, kGpus, kGpusMax));
  TRY_ASSIGN(logged.submitted, read_seconds(row, kCreated));
  TRY_ASSIGN(logged.started, read_seconds(row, kScheduled));
  TRY_ASSIGN(logged.ended, read_seconds(row, kDeleted));
  TRY_ASSIGN(const double cpus, read_amount(row, kCpus, kCpusMax));
  TRY_ASSIGN(const double memory_gib, read_amount(row, kMemory, kMemoryMax_gb / 2));
  if (!accept(logged, row.line(), builder, job)) return false;
  job.cpu_milli = std::llround(cpus * 1000);
  job.memory_bytes = std::llround(memory_gib * kGibibyte);
  // The instances of an application are alike, as the runs of a model are.
  TRY_ASSIGN(job.model, read_name(row, kApp, builder));
  return true;
}

Status read(LineReader& lines, WorkloadBuilder& builder) {
  return read_log(lines, {kColumns, kRequired, read_job}, builder);
}

}  // namespace

const TraceReader kDlrmTrace = {
    .format = {.name = "dlrm2025",
               .summary = "Alibaba's GPU cluster of 2025: instances that serve recommendations",
               .columns =
                   "instance_sn,[role],[app_name],[cpu_request],gpu_request,[memory_request],"
                   "creation_time,scheduled_time,deletion_time"},
    .signature = kSignature,
    .read = read};

}  // namespace orrery
