#include <algorithm>
#include <array>

#include "workload/formats/logged_jobs.h"
#include "workload/text/csv.h"

namespace orrery {
namespace {

// Kalos has a few columns more than Seren; `duration` is not read because in Kalos it counts from
// the submission, against what its description says.
enum Column : std::size_t {
  kJob,
  kUser,
  kNodes,
  kGpus,
  kCpus,
  kMemory,
  kType,
  kState,
  kSubmit,
  kStart,
  kEnd,
  kGpuTime,
};
constexpr auto kColumns = std::to_array<std::string_view>(
    {"job_id", "user", "node_num", "gpu_num", "cpu_num", "mem_per_pod_GB", "type", "state",
     "submit_time", "start_time", "end_time", "gpu_time"});
constexpr std::array<std::size_t, 5> kRequired = {kJob, kGpus, kSubmit, kStart, kEnd};
constexpr std::int64_t kNodesMax = 1'000'000;
constexpr int kGigabyteDigits = 9;

constexpr auto kSignature = std::to_array<std::string_view>(
    {"job_id", "gpu_num", "type", "submit_time", "start_time", "end_time", "gpu_time"});

// All pods of a job together, within what a job may ask for.
Result<std::int64_t> read_memory(const Row& row) {
  if (!row.given(kMemory)) return 0;
  TRY_ASSIGN(const std::int64_t pod, row.fixed(kMemory, kGigabyteDigits, kMemoryMax_gb));
  TRY_ASSIGN(const std::int64_t nodes, read_count(row, kNodes, kNodesMax));
  const double all =
      static_cast<double>(pod) * static_cast<double>(std::max<std::int64_t>(nodes, 1));
  if (all > kMemoryMax_gb * 1e9) return row.wrong(kMemory, "times node_num is more than 1e6 GB");
  return pod * std::max<std::int64_t>(nodes, 1);
}

Result<bool> read_job(const Row& row, WorkloadBuilder& builder, JobSpec& job) {
  TRY_ASSIGN(const LoggedJob logged, read_dated(row, {kJob, kGpus, kSubmit, kStart, kEnd}, job));
  TRY_ASSIGN(const std::int64_t cpus, read_count(row, kCpus, static_cast<std::int64_t>(kCpusMax)));
  TRY_ASSIGN(const std::int64_t memory, read_memory(row));
  if (!accept(logged, row.line(), builder, job)) return false;
  job.cpu_milli = 1000 * cpus;
  job.memory_bytes = memory;
  TRY_ASSIGN(job.user, read_name(row, kUser, builder));
  return true;
}

Status read(LineReader& lines, WorkloadBuilder& builder) {
  builder.begin_at_first_submission();
  return read_log(lines, {kColumns, kRequired, read_job}, builder);
}

}  // namespace

const TraceReader kAcmeTrace = {
    .format = {.name = "acme",
               .summary = "Shanghai AI Lab's Acme (Seren, Kalos): dates with zones, CPUs, memory",
               .columns = "job_id,[user],[node_num],gpu_num,[cpu_num],[mem_per_pod_GB],type,"
                          "[state],submit_time,start_time,end_time,[duration],[queue],gpu_time"},
    .signature = kSignature,
    .read = read};

}  // namespace orrery
