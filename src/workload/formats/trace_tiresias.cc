#include <array>

#include "workload/formats/trace_reader.h"
#include "workload/profiles/muri_models.h"
#include "workload/text/csv.h"

namespace orrery {
namespace {

enum Column : std::size_t { kJob, kGpus, kSubmit, kIterations, kModel, kDuration, kInterval };
constexpr auto kColumns = std::to_array<std::string_view>(
    {"job_id", "num_gpu", "submit_time", "iterations", "model_name", "duration", "interval"});
constexpr std::array<std::size_t, 5> kRequired = {kJob, kGpus, kSubmit, kIterations, kDuration};
constexpr int kNanoDigits = 9;

std::string refusal(std::string_view first_line) {
  static constexpr auto kTold = std::to_array<std::string_view>(
      {"job_id", "num_gpu", "submit_time", "iterations", "duration"});
  return missing_column(first_line, kTold);
}

Result<JobSpec> read_job(const Row& row, WorkloadBuilder& builder) {
  JobSpec job;
  TRY_ASSIGN(job.name, row.name(kJob));
  TRY_ASSIGN(const std::int64_t gpus, row.integer(kGpus, 1, kGpusMax));
  TRY_ASSIGN(const std::int64_t submit_ns, row.fixed(kSubmit, kNanoDigits, kTimeMax_s));
  TRY_ASSIGN(job.iterations, row.number(kIterations, kIterationsMin, kIterationsMax));
  TRY_ASSIGN(const double duration_s, row.number(kDuration, kTimeMin_s, kTimeMax_s));
  job.gpus = static_cast<int>(gpus);
  job.submitted = Time(Duration(submit_ns));
  job.iteration_s = duration_s / job.iterations;
  if (auto work = check_work(job.iterations, job.iteration_s); !work.ok()) {
    return row.wrong(work.error().message);
  }
  job.start_cost = std::chrono::seconds(kUnknownModelStart_s);
  if (row.given(kModel)) {
    TRY_ASSIGN(const std::string_view name, row.name(kModel));
    job.model = builder.name_id(name);
  }
  return job;
}

Status read(LineReader& lines, WorkloadBuilder& builder) {
  TRY_ASSIGN(CsvTable table, CsvTable::open(lines, kColumns, kRequired));
  return add_jobs(table, lines, builder, [&](const Row& row) { return read_job(row, builder); });
}

}  // namespace

const TraceReader kTiresiasTrace = {
    .format = {.name = "tiresias",
               .summary = "Tiresias' simulator: times in seconds, duration and iterations",
               .columns = "job_id,num_gpu,submit_time,iterations,[model_name],duration,[interval]"},
    .refusal = refusal,
    .read = read};

}  // namespace orrery
