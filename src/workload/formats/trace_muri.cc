#include <array>
#include <vector>

#include "workload/formats/trace_reader.h"
#include "workload/profiles/muri_models.h"
#include "workload/text/csv.h"

namespace orrery {
namespace {

enum Column : std::size_t {
  kJob,
  kGpus,
  kSubmit,
  kIterations,
  kModel,
  kBatch,
  kDuration,
  kInterval,
  kIteration,
  kPriority,
  kStage0,
};
constexpr auto kColumns = std::to_array<std::string_view>(
    {"job_id",           "num_gpu",          "submit_time",      "iterations",
     "model_name",       "batch_size",       "duration",         "interval",
     "iteration_time",   "priority",         "resource_time_0",  "resource_time_1",
     "resource_time_2",  "resource_time_3",  "resource_time_4",  "resource_time_5",
     "resource_time_6",  "resource_time_7",  "resource_time_8",  "resource_time_9",
     "resource_time_10", "resource_time_11", "resource_time_12", "resource_time_13",
     "resource_time_14", "resource_time_15"});
static_assert(kColumns.size() == kStage0 + kStagesMax);
constexpr std::array<std::size_t, 5> kRequired = {kJob, kGpus, kSubmit, kIterations, kIteration};
constexpr int kMilliDigits = 6;  // a millisecond is 10^6 nanoseconds

constexpr auto kSignature = std::to_array<std::string_view>(
    {"job_id", "num_gpu", "submit_time", "iterations", "iteration_time"});

// How many stages the header has; they must be numbered without a gap.
Result<std::size_t> stage_count(const CsvTable& table, const LineReader& lines) {
  std::size_t count = 0;
  while (count < kStagesMax && table.has(kStage0 + count)) ++count;
  for (std::size_t i = count; i < kStagesMax; ++i) {
    if (table.has(kStage0 + i)) {
      return lines.wrong("column '" + std::string(kColumns[kStage0 + i]) + "' is there, but not '" +
                         std::string(kColumns[kStage0 + count]) + "'");
    }
  }
  return count;
}

Result<ProfileId> read_stages(const Row& row, std::size_t count, WorkloadBuilder& builder) {
  std::array<double, kStagesMax> stage_s{};
  std::array<int, kStagesMax> slots{};
  double sum = 0;
  for (std::size_t i = 0; i < count; ++i) {
    TRY_ASSIGN(const double stage_ms, row.number(kStage0 + i, 0, kTimeMax_s * 1000));
    stage_s[i] = stage_ms / 1000.0;
    slots[i] = count == kMuriSlots.size() ? kMuriSlots[i] : 1;
    sum += stage_s[i];
  }
  if (count > 0 && sum <= 0) return row.wrong(kStage0, "all stages take no time");
  return builder.profile_id(std::span(stage_s).first(count), std::span(slots).first(count));
}

Result<JobSpec> read_job(const Row& row, std::size_t stages, WorkloadBuilder& builder) {
  JobSpec job;
  TRY_ASSIGN(job.name, row.name(kJob));
  TRY_ASSIGN(const std::int64_t gpus, row.integer(kGpus, 1, kGpusMax));
  TRY_ASSIGN(const std::int64_t submit_ns, row.fixed(kSubmit, kMilliDigits, kTimeMax_s * 1000));
  TRY_ASSIGN(job.iterations, row.number(kIterations, kIterationsMin, kIterationsMax));
  TRY_ASSIGN(const double iteration_ms,
             row.number(kIteration, kTimeMin_s * 1000, kTimeMax_s * 1000));
  job.gpus = static_cast<int>(gpus);
  job.submitted = Time(Duration(submit_ns));
  job.iteration_s = iteration_ms / 1000.0;
  if (auto work = check_work(job.iterations, job.iteration_s); !work.ok()) {
    return row.wrong(work.error().message);
  }
  if (row.given(kDuration)) TRY(row.number(kDuration, 0, kTimeMax_s * 1000));
  int start_s = kUnknownModelStart_s;
  if (row.given(kModel)) {
    TRY_ASSIGN(const std::string_view name, row.name(kModel));
    job.model = builder.name_id(name);
    if (const MuriModel* model = find_muri_model(name)) start_s = model->profile(job.gpus).start_s;
  }
  job.start_cost = std::chrono::seconds(start_s);
  if (row.given(kBatch)) {
    TRY_ASSIGN(const std::int64_t batch, row.integer(kBatch, 0, kBatchMax));
    job.batch_size = static_cast<int>(batch);
  }
  if (row.given(kPriority)) {
    TRY_ASSIGN(const std::int64_t priority, row.integer(kPriority, 0, 1));
    job.priority = static_cast<int>(priority);
  }
  TRY_ASSIGN(job.profile, read_stages(row, stages, builder));
  return job;
}

Status read(LineReader& lines, WorkloadBuilder& builder) {
  TRY_ASSIGN(CsvTable table, CsvTable::open(lines, kColumns, kRequired));
  TRY_ASSIGN(const std::size_t stages, stage_count(table, lines));
  return add_jobs(table, lines, builder,
                  [&](const Row& row) { return read_job(row, stages, builder); });
}

}  // namespace

const TraceReader kMuriTrace = {
    .format = {.name = "muri",
               .summary = "Muri's simulator: times in milliseconds, stage times of an iteration",
               .columns = "job_id,num_gpu,submit_time,iterations,[model_name],[batch_size],"
                          "[duration],[interval],iteration_time,[resource_time_0],[...],"
                          "[priority]"},
    .signature = kSignature,
    .read = read};

}  // namespace orrery
