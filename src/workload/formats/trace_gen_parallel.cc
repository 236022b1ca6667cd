#include <array>

#include "workload/formats/logged_jobs.h"
#include "workload/text/csv.h"

namespace orrery {
namespace {

enum Column : std::size_t { kJob, kUser, kGpus, kCpus, kNodes, kInterval, kRun, kWall, kStatus };
constexpr auto kColumns =
    std::to_array<std::string_view>({"u_id", "user", "gpu_num", "cpu_num", "node_num", "interval",
                                     "run_time", "wall_time", "new_status"});
constexpr std::array<std::size_t, 4> kRequired = {kJob, kGpus, kInterval, kRun};

constexpr auto kSignature =
    std::to_array<std::string_view>({"u_id", "gpu_num", "interval", "run_time"});

// Every row says how long after the one before it was submitted, so rows that are left out count.
class Submissions {
 public:
  Result<Duration> next(const Row& row) {
    TRY_ASSIGN(const auto interval, read_seconds(row, kInterval));
    if (interval) now_ += *interval;
    if (seconds(now_) > kTimeMax_s) {
      return row.wrong(kInterval, "adds up to more than 100 years since the first row");
    }
    return now_;
  }

 private:
  Duration now_{};
};

Result<bool> read_job(const Row& row, Submissions& submissions, WorkloadBuilder& builder,
                      JobSpec& job) {
  LoggedJob logged;
  TRY_ASSIGN(job.name, row.name(kJob));
  TRY_ASSIGN(logged.gpus, read_count(row, kGpus, kGpusMax));
  TRY_ASSIGN(logged.submitted, submissions.next(row));
  TRY_ASSIGN(const auto duration, read_seconds(row, kRun));
  TRY_ASSIGN(const std::int64_t cpus, read_count(row, kCpus, static_cast<std::int64_t>(kCpusMax)));
  if (duration) {
    logged.started = logged.submitted;
    logged.ended = *logged.submitted + *duration;
  }
  if (!accept(logged, row.line(), builder, job)) return false;
  job.cpu_milli = 1000 * cpus;
  TRY_ASSIGN(job.user, read_name(row, kUser, builder));
  return true;
}

Status read(LineReader& lines, WorkloadBuilder& builder) {
  TRY_ASSIGN(CsvTable table, CsvTable::open(lines, kColumns, kRequired, {.other_columns = true}));
  Submissions submissions;
  return add_logged_jobs(table, builder, [&](const Row& row, JobSpec& job) {
    return read_job(row, submissions, builder, job);
  });
}

}  // namespace

const TraceReader kGenParallelTrace = {
    .format = {.name = "gen-parallel",
               .summary = "Gen-Parallel-Workloads' cuts of Philly and Helios: times since the row "
                          "before",
               .columns = "u_id,[user],gpu_num,[cpu_num],[node_num],interval,run_time,[wall_time],"
                          "[new_status]"},
    .signature = kSignature,
    .read = read};

}  // namespace orrery
