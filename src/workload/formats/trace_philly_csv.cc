#include <fmt/format.h>

#include <array>

#include "workload/formats/logged_jobs.h"
#include "workload/text/csv.h"

namespace orrery {
namespace {

enum Column : std::size_t { kTimestamp, kDuration, kGpus, kGpuTime, kCluster };
constexpr auto kColumns =
    std::to_array<std::string_view>({"timestamp", "duration", "num_gpus", "gpu_time", "cluster"});
constexpr std::array<std::size_t, 3> kRequired = {kTimestamp, kDuration, kGpus};

constexpr auto kSignature = std::to_array<std::string_view>({"timestamp", "duration", "num_gpus"});

Result<bool> read_job(const Row& row, WorkloadBuilder& builder, JobSpec& job) {
  LoggedJob logged;
  // The table has no names.
  job.name = fmt::format("line-{}", row.line());
  TRY_ASSIGN(logged.gpus, read_count(row, kGpus, kGpusMax));
  TRY_ASSIGN(logged.submitted, read_date(row, kTimestamp));
  TRY_ASSIGN(const std::optional<Duration> duration, read_seconds(row, kDuration));
  logged.started = logged.submitted;
  if (logged.started && duration) logged.ended = *logged.started + *duration;
  if (!accept(logged, row.line(), builder, job)) return false;
  TRY_ASSIGN(job.user, read_name(row, kCluster, builder));
  return true;
}

Status read(LineReader& lines, WorkloadBuilder& builder) {
  builder.begin_at_first_submission();
  return read_log(lines, {kColumns, kRequired, read_job}, builder);
}

}  // namespace

const TraceReader kPhillyCsvTrace = {
    .format = {.name = "philly-csv",
               .summary =
                   "Philly as a table, as Pollux' simulator ships it: dates, virtual clusters",
               .columns = "timestamp,duration,num_gpus,[gpu_time],[cluster]"},
    .signature = kSignature,
    .read = read};

}  // namespace orrery
