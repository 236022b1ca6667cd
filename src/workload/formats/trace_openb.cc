#include <algorithm>
#include <array>

#include "workload/formats/logged_jobs.h"
#include "workload/text/csv.h"
#include "workload/text/date_text.h"

namespace orrery {
namespace {

enum Column : std::size_t {
  kName,
  kCpu,
  kMemory,
  kGpus,
  kGpuMilli,
  kGpuSpec,
  kQos,
  kPhase,
  kCreated,
  kDeleted,
  kScheduled,
};
constexpr auto kColumns = std::to_array<std::string_view>(
    {"name", "cpu_milli", "memory_mib", "num_gpu", "gpu_milli", "gpu_spec", "qos", "pod_phase",
     "creation_time", "deletion_time", "scheduled_time"});
constexpr std::array<std::size_t, 3> kRequired = {kName, kGpus, kGpuMilli};
constexpr std::array<std::size_t, 3> kTimes = {kCreated, kScheduled, kDeleted};
// For the lists of pods without times, which describe a cluster at one instant.
constexpr Duration kAssumedLength = std::chrono::hours(1);
constexpr std::int64_t kWholeGpu = 1000;
constexpr std::int64_t kMebibyte = 1 << 20;
constexpr auto kCpuMilliMax = static_cast<std::int64_t>(kCpusMax * 1000);
constexpr auto kMebibytesMax = static_cast<std::int64_t>(kMemoryMax_gb * 1e9) / kMebibyte;

constexpr auto kSignature = std::to_array<std::string_view>({"name", "num_gpu", "gpu_milli"});

// A pod may name several types, which a job cannot.
Result<NameId> read_type(const Row& row, WorkloadBuilder& builder) {
  if (row[kGpuSpec].find('|') == std::string_view::npos) return read_name(row, kGpuSpec, builder);
  TRY(row.name(kGpuSpec));
  builder.note_kept("may run on several GPU types; taken to run on any", row.line());
  return kNoName;
}

Result<bool> read_job(const Row& row, bool has_times, WorkloadBuilder& builder, JobSpec& job) {
  LoggedJob logged;
  TRY_ASSIGN(job.name, row.name(kName));
  TRY_ASSIGN(logged.gpus, read_count(row, kGpus, kGpusMax));
  if (has_times) {
    TRY_ASSIGN(logged.submitted, read_seconds(row, kCreated));
    TRY_ASSIGN(logged.started, read_seconds(row, kScheduled));
    TRY_ASSIGN(logged.ended, read_seconds(row, kDeleted));
  } else {
    logged.submitted = logged.started = Duration();
    logged.ended = kAssumedLength;
  }
  TRY_ASSIGN(job.cpu_milli, read_count(row, kCpu, kCpuMilliMax));
  TRY_ASSIGN(const std::int64_t mebibytes, read_count(row, kMemory, kMebibytesMax));
  TRY_ASSIGN(const std::int64_t milli, read_count(row, kGpuMilli, kWholeGpu));
  if (!accept(logged, row.line(), builder, job)) return false;
  if (!has_times) {
    builder.note_kept("states no times; taken to be submitted at 0 and to run for an hour",
                      row.line());
  }
  if (row.given(kGpuMilli) && milli < kWholeGpu) {
    builder.note_kept("asks for part of a GPU; given a whole one", row.line());
  }
  job.memory_bytes = kMebibyte * mebibytes;
  job.priority = row[kQos] == "BE" ? 1 : 0;
  TRY_ASSIGN(job.gpu_type, read_type(row, builder));
  return true;
}

Status read(LineReader& lines, WorkloadBuilder& builder) {
  TRY_ASSIGN(CsvTable table, CsvTable::open(lines, kColumns, kRequired, {.other_columns = true}));
  const auto has = [&](std::size_t column) { return table.has(column); };
  const bool has_times = std::ranges::all_of(kTimes, has);
  if (!has_times && std::ranges::any_of(kTimes, has)) {
    return lines.wrong(
        "has some of the columns creation_time, scheduled_time, deletion_time; give all three, or "
        "none");
  }
  return add_logged_jobs(table, builder, [&](const Row& row, JobSpec& job) {
    return read_job(row, has_times, builder, job);
  });
}

}  // namespace

const TraceReader kOpenbTrace = {
    .format = {.name = "openb",
               .summary = "Alibaba's GPU cluster of 2023, pods: CPUs, memory, parts of GPUs",
               .columns = "name,[cpu_milli],[memory_mib],num_gpu,gpu_milli,[gpu_spec],[qos],"
                          "[pod_phase],[creation_time],[deletion_time],[scheduled_time]"},
    .signature = kSignature,
    .read = read};

}  // namespace orrery
